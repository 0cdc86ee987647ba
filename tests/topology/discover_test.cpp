// What is discovered of machines that are described by files.
#include "ccl/topology/discover.hpp"

#include <catch2/catch.hpp>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/hwloc_machine.hpp"
#include "ccl/topology/nvlink.hpp"
#include "ccl/topology/pcie.hpp"
#include "ccl/topology/position.hpp"
#include "ccl/topology/sysfs_nics.hpp"
#include "tests/topology/examples.hpp"
#include "tests/topology/folder_tree.hpp"

namespace strata::topology::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::VectorContains;

const std::string kXml = std::string(STRATA_TOPOLOGY_DATA) + "/hwloc_two_packages.xml";

// The two-package machine's cards as the kernel shows them, and others: one that is down, a virtual one, a
// bridge.
void write_cards(const FolderTree& tree) {
  const auto interface = [&](const std::string& name, const std::string& type, const std::string& state,
                             const std::string& speed) {
    const std::string folder = "sys/class/net/" + name + "/";
    tree.write(folder + "type", type + "\n");
    tree.write(folder + "operstate", state + "\n");
    if (!speed.empty()) tree.write(folder + "speed", speed + "\n");
  };
  interface("lo", "772", "unknown", "");
  interface("eth0", "1", "up", "10000");
  tree.write("sys/devices/pci0000:00/0000:02:00.0/numa_node", "0\n");
  tree.link("sys/class/net/eth0/device", "sys/devices/pci0000:00/0000:02:00.0");
  interface("eth1", "1", "down", "1000");
  tree.link("sys/class/net/eth1/device", "sys/devices/pci0000:00/0000:02:00.1");
  interface("ib0", "32", "up", "100000");
  tree.link("sys/class/net/ib0/device", "sys/devices/pci0000:00/0000:01:00.0/0000:13:00.0");
  interface("docker0", "1", "up", "");
  for (const auto& [name, rate] : {std::pair<std::string, std::string>{"mlx5_0", "200 Gb/sec (4X HDR)"},
                                   {"mlx5_1", "2.5 Gb/sec (1X SDR)"},
                                   {"mlx5_2", "10 Gb/sec (4X SDR)"}}) {
    const std::string port = "sys/class/infiniband/" + name + "/ports/1/";
    tree.write(port + "rate", rate + "\n");
    tree.write(port + "state", name == "mlx5_2" ? "1: DOWN\n" : "4: ACTIVE\n");
  }
  tree.link("sys/class/infiniband/mlx5_0/device", "sys/devices/pci0000:00/0000:01:00.0/0000:13:00.0");
  tree.link("sys/class/infiniband/mlx5_1/device", "sys/devices/pci0000:80/0000:82:00.0");
  tree.write("sys/devices/pci0000:80/0000:82:00.0/numa_node", "1\n");
}

TEST_CASE("hwloc's XML gives packages, nodes, caches, cores and the devices that count") {
  auto machine = hwloc_machine(kXml);
  REQUIRE(machine.ok());
  CHECK(machine->packages.size() == 2);
  CHECK(machine->numa_nodes == std::vector<NumaNode>{{0, 1 << 30}, {1, 1 << 30}});
  CHECK(machine->l3s.size() == 4);
  REQUIRE(machine->cores.size() == 8);
  CHECK(machine->cores[5] == Core{1, 1, 2, {5}});
  CHECK(machine->pcie_switches ==
        std::vector<PcieSwitch>{{"0000:10:00.0", 0, kNone, 128'000'000'000}});  // ports are no switches
  REQUIRE(machine->gpus.size() == 2);  // and not the console of the server's management
  CHECK(machine->gpus[0].address == "0000:12:00.0");
  CHECK((machine->gpus[0].pcie_switch == 0 && machine->gpus[0].numa == 0));
  CHECK((machine->gpus[1].pcie_switch == kNone && machine->gpus[1].numa == 1));
  REQUIRE(machine->nics.size() == 3);
  CHECK(machine->nics[1] == Nic{"ib0", "mlx5_0", "0000:13:00.0", 0, 0, 0, kNone, 128'000'000'000});
}

TEST_CASE("what is not hwloc's XML is refused with the file and the cure") {
  const FolderTree tree;
  for (const std::string& file :
       {tree.write("a.xml", "<system/>"), tree.write("b.xml", ""), std::string("/no/such")}) {
    const auto read = hwloc_machine(file);
    REQUIRE(!read.ok());
    CHECK_THAT(std::string(read.status().message()), Contains(file) && Contains("lstopo"));
  }
}

TEST_CASE("cards are read from /sys with their rates; what is down is left out, with a note") {
  const FolderTree tree;
  write_cards(tree);
  const SysfsNics found = read_sysfs_nics(tree.root());
  REQUIRE(found.nics.size() == 3);
  CHECK(found.nics[0] == SysfsNic{{"eth0", "", "0000:02:00.0", 10'000'000'000, kNone, kNone, kNone}, 0});
  CHECK(found.nics[1] ==
        SysfsNic{{"ib0", "mlx5_0", "0000:13:00.0", 200'000'000'000, kNone, kNone, kNone}, kNone});
  CHECK(found.nics[2] ==
        SysfsNic{{"mlx5_1", "mlx5_1", "0000:82:00.0", 2'500'000'000, kNone, kNone, kNone}, 1});
  CHECK_THAT(found.notes, VectorContains(std::string("eth1 is left out: its link is down")));
  CHECK_THAT(found.notes, VectorContains(std::string("mlx5_2 is left out: no port of it is active")));
}

TEST_CASE("in a container, whose interfaces have no devices, they are what there is") {
  const FolderTree tree;
  tree.write("sys/class/net/lo/type", "772");
  tree.write("sys/class/net/eth0/type", "1");
  tree.write("sys/class/net/eth0/operstate", "up");
  tree.write("sys/class/net/eth0/speed", "10000");
  tree.write("sys/class/net/br0/type", "1");
  tree.write("sys/class/net/br0/operstate", "up");
  tree.write("sys/class/net/br0/bridge/stp_state", "0");
  const SysfsNics found = read_sysfs_nics(tree.root());
  REQUIRE(found.nics.size() == 1);
  CHECK(found.nics[0].nic.name == "eth0");
  CHECK(found.nics[0].nic.rate == 0);  // what a device in software says of itself means nothing
}

TEST_CASE("a virtio card is below its PCIe device, and does not tell its rate") {
  const FolderTree tree;
  tree.write("sys/class/net/eth0/type", "1");
  tree.write("sys/class/net/eth0/operstate", "up");
  tree.write("sys/class/net/eth0/speed", "-1");
  tree.link("sys/class/net/eth0/device", "sys/devices/pci0000:00/0000:00:03.0/virtio2");
  const SysfsNics found = read_sysfs_nics(tree.root());
  REQUIRE(found.nics.size() == 1);
  CHECK(found.nics[0].nic.address == "0000:00:03.0");
  CHECK(found.nics[0].nic.rate == 0);
  REQUIRE(found.notes.size() == 1);
  CHECK_THAT(found.notes[0], Contains("eth0 does not tell its rate"));
}

TEST_CASE("no /sys at all: no cards, and no error") { CHECK(read_sysfs_nics("/no/such/root").nics.empty()); }

TEST_CASE("the sources make one machine") {
  const FolderTree tree;
  write_cards(tree);
  const auto found = discover({tree.root(), kXml, STRATA_FAKE_NVML, "host-a"});
  REQUIRE(found.ok());
  const Topology& topology = found->topology;
  CHECK(topology.hosts == std::vector<Host>{{"host-a", 0, 0, kNone}});
  const Machine& machine = topology.machines.at(0);
  REQUIRE(machine.nics.size() == 3);
  CHECK(machine.nics[0].numa == 0);
  CHECK((machine.nics[1].pcie_switch == 0 && machine.nics[1].numa == 0));
  CHECK((machine.nics[2].numa == 1 && machine.nics[2].rate == 2'500'000'000));
  CHECK(machine.gpus[1].model == "Fake GPU");
  CHECK(machine.gpu_links == std::vector<GpuLink>{{0, kNone, 1'000'000'000'000},
                                                  {0, 1, 400'000'000'000},
                                                  {1, kNone, 1'000'000'000'000}});
  CHECK(nics_near(machine, {"host-a", {}, 0}).nics == std::vector<int>{1});
  CHECK(nics_near(machine, {"host-a", {}, 1}).nics == std::vector<int>{2});
  CHECK(hierarchy(one_rank_a_core(topology), topology)->levels.size() == 3);
}

TEST_CASE("without the management library GPUs stay without links, and a note says why") {
  const auto found = discover({"/no/such/root", kXml, "libno-such-nvml.so", "host-a"});
  REQUIRE(found.ok());
  CHECK(found->topology.machines[0].gpus.size() == 2);
  CHECK(found->topology.machines[0].gpu_links.empty());
  REQUIRE(found->notes.size() == 1);
  CHECK_THAT(found->notes[0], Contains("libno-such-nvml.so is not installed"));
}

TEST_CASE("this host is discovered") {
  const auto found = discover();
  REQUIRE(found.ok());
  const Machine& machine = found->topology.machines.at(0);
  CHECK(!machine.cores.empty());
  CHECK(!machine.numa_nodes.empty());
  for (const Core& core : machine.cores) CHECK(!core.cpus.empty());
}

TEST_CASE("PCIe addresses have one form") {
  CHECK(pcie_address("0000:07:00.0") == "0000:07:00.0");
  CHECK(pcie_address("00000000:C1:1F.7") == "0000:c1:1f.7");
  CHECK(pcie_address("07:00.0") == "0000:07:00.0");
  CHECK(pcie_address("fffffff:ff:1f.0") == "fffffff:ff:1f.0");
  for (const char* text :
       {"", "virtio2", "0000:07:00", "0000:07:20.0", "0000:07:00.8", "0000:100:00.0", ":07:00.0",
        "0000::00.0", "x:07:00.0", "pci0000:00", "0000:07:00.", ".", ":.", "1:2:3:04.0"})
    CHECK(!pcie_address(text));
}

TEST_CASE("switches that join fewer than two things are left out, in any order") {
  Machine machine;
  machine.pcie_switches = {{"leaf", 0, 2}, {"empty", 0, 3}, {"chain", 0, 3}, {"top", 0, kNone}};
  machine.gpus = {{"g0", "", 0, 0}, {"g1", "", 0, 3}};
  machine.nics = {{"n0", "", "", 1, 0, 0, kNone}};
  keep_joining_switches(machine);
  CHECK(machine.pcie_switches == std::vector<PcieSwitch>{{"leaf", 0, 1}, {"top", 0, kNone}});
  CHECK(machine.gpus[0].pcie_switch == 0);
  CHECK(machine.gpus[1].pcie_switch == 1);
  CHECK(machine.nics[0].pcie_switch == 0);
}

TEST_CASE("PCIe rates by generation") {
  CHECK(pcie_rate(2.5, 4) == 8'000'000'000);
  CHECK(pcie_rate(16, 16) / 1'000'000'000 == 252);
  CHECK(pcie_rate(0, 16) == 0);
  CHECK(pcie_rate(16, 0) == 0);
}

TEST_CASE("NVLink lanes by generation, and links that only one end reports") {
  CHECK(nvlink_lane_rate(60) == 160'000'000'000);
  CHECK(nvlink_lane_rate(80) == nvlink_lane_rate(90));
  CHECK(nvlink_lane_rate(100) == 2 * nvlink_lane_rate(90));
  CHECK(nvlink_lane_rate(0) == 0);
  Machine machine;
  machine.gpus = {{"a", "", 0, kNone}, {"b", "", 0, kNone}};
  const NvLanes only_b[] = {{1, "a", 3, 80}, {1, "b", 1, 80}};
  add_nvlinks(only_b, machine);
  CHECK(machine.gpu_links == std::vector<GpuLink>{{1, 0, 600'000'000'000}});
}

}  // namespace
}  // namespace strata::topology::test
