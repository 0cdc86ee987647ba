// NCCL's files: what three kinds of machine become, and how mistakes are named.
#include "ccl/topology/nccl_xml.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "ccl/topology/pcie.hpp"
#include "ccl/topology/position.hpp"
#include "tests/topology/examples.hpp"

namespace strata::topology::test {
namespace {

using Catch::Matchers::Contains;
using Groups = std::vector<std::vector<Rank>>;

constexpr BitsPerSecond kGiga = 1'000'000'000;

Machine machine_of(const std::string& name) {
  const std::string path = std::string(STRATA_TOPOLOGY_DATA) + "/" + name;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  auto machine = parse_nccl_xml(text.str(), path);
  INFO(machine.status().message());
  REQUIRE(machine.ok());
  return *machine;
}

Hierarchy one_rank_a_gpu(const Machine& machine) {
  const Topology topology = hosts_of(machine, 1);
  std::vector<Place> places;
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu)
    places.push_back({"h0", {}, static_cast<int>(gpu)});
  return hierarchy(places, topology).value();
}

Machine parsed(const std::string& inside_system) {
  auto machine = parse_nccl_xml("<system version=\"1\">" + inside_system + "</system>", "x.xml");
  INFO(machine.status().message());
  REQUIRE(machine.ok());
  return *machine;
}

std::string refused(const std::string& text) {
  const auto machine = parse_nccl_xml(text, "x.xml");
  REQUIRE(!machine.ok());
  CHECK(machine.status().code() == ErrorCode::invalid_argument);
  return std::string(machine.status().message());
}

TEST_CASE("a cube mesh of V100s: four switches with two GPUs and a card each") {
  const Machine machine = machine_of("nccl_v100_cube_mesh.xml");
  CHECK(machine.numa_nodes.size() == 2);
  CHECK(machine.cores.size() == 80);
  CHECK(machine.cores[59] == Core{kNone, 0, kNone, {59}});
  CHECK(machine.cores[60] == Core{kNone, 1, kNone, {60}});
  REQUIRE(machine.pcie_switches.size() == 4);
  CHECK(machine.pcie_switches[2] == PcieSwitch{"0000:81:00.0", 1, kNone, pcie_rate(8, 16)});
  REQUIRE(machine.gpus.size() == 8);
  REQUIRE(machine.nics.size() == 4);
  CHECK(machine.nics[3].rate == 100 * kGiga);
  REQUIRE(machine.gpu_links.size() == 16);  // of 4 neighbours each
  BitsPerSecond of_gpu_5 = 0;
  for (const GpuLink& link : machine.gpu_links) of_gpu_5 += link.a == 5 || link.b == 5 ? link.rate : 0;
  CHECK(of_gpu_5 == 6 * 200 * kGiga);
  for (int gpu = 0; gpu < 8; ++gpu) {
    const NearNics near = nics_near(machine, {"", {}, gpu});
    CHECK(near.nearness == Nearness::pcie_switch);
    CHECK(near.nics == std::vector<int>{gpu / 2});
  }
  const Hierarchy h = one_rank_a_gpu(machine);
  REQUIRE(h.levels.size() == 3);
  CHECK(h.levels[0] == Level{"pcie", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}});
  CHECK(h.levels[1] == Level{"numa", {{0, 1, 2, 3}, {4, 5, 6, 7}}});
  CHECK(h.levels[2].name == "gpu_island");
}

TEST_CASE("A100s behind NVSwitches: every GPU reaches every other at 300 GB/s") {
  const Machine machine = machine_of("nccl_a100_nvswitch.xml");
  REQUIRE(machine.gpus.size() == 8);
  REQUIRE(machine.nics.size() == 8);
  REQUIRE(machine.gpu_links.size() == 8);
  for (const GpuLink& link : machine.gpu_links) CHECK((link.b == kNone && link.rate == 2400 * kGiga));
  CHECK(machine.numa_nodes[0].number == 3);
  CHECK(nics_near(machine, {"", {}, 5}).nics == std::vector<int>{4, 5});
  const Hierarchy h = one_rank_a_gpu(machine);
  REQUIRE(h.levels.size() == 2);
  CHECK(h.levels[0].groups == Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(h.levels[1].name == "gpu_island");
}

TEST_CASE("a virtual machine's file names devices without saying what they are") {
  const Machine machine = machine_of("nccl_cloud_vm.xml");
  REQUIRE(machine.gpus.size() == 8);
  REQUIRE(machine.nics.size() == 8);
  CHECK(machine.gpus[7].address == "0008:00:00.0");
  CHECK(machine.nics[7] ==
        Nic{"0108:00:00.0", "", "0108:00:00.0", 0, 3, 3, kNone, machine.nics[7].pcie_rate});
  CHECK(nics_near(machine, {"", {}, 6}).nics == std::vector<int>{6, 7});
  CHECK(one_rank_a_gpu(machine).levels[0].groups == Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
}

TEST_CASE("CPUs that several nodes claim are in none") {
  const Machine machine = parsed(R"(<cpu numaid="0" affinity="0xf"/><cpu numaid="0x1" affinity="3c"/>)");
  REQUIRE(machine.cores.size() == 6);
  CHECK(machine.cores[1].numa == 0);
  CHECK(machine.cores[2].numa == kNone);
  CHECK(machine.cores[5].numa == 1);
  CHECK(machine.numa_nodes[1].number == 1);
}

TEST_CASE("cards may be outside of PCIe, links may lead to GPUs that are not listed") {
  const Machine machine = parsed(R"(<cpu numaid="-1"><nic><net name="eth0" speed="100000" port="0"/></nic>
    <pci busid="0001:00:00.0" class="0x030200" link_speed="" link_width="0"><gpu dev="0" sm="80">
    <nvlink target="0002:00:00.0" count="12" tclass="0x030200"/><c2c bw="1"/></gpu></pci><novelty/></cpu>)");
  CHECK(machine.nics == std::vector<Nic>{{"eth0", "", "", 100 * kGiga, 0, kNone, kNone, 0}});
  CHECK(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].pcie_rate == 0);
  CHECK(machine.gpu_links.empty());
  CHECK(parsed("").gpus.empty());
}

TEST_CASE("mistakes in NCCL's files are named by file, line and value, with the cure") {
  CHECK_THAT(refused(""), Contains("x.xml:1: this is no XML"));
  CHECK_THAT(refused("<system version=\"1\">\n<cpu>\n</system>"), Contains("x.xml:3: this is no XML"));
  CHECK_THAT(refused("<topology/>"), Contains("<topology>") && Contains("begins with <system>"));
  CHECK_THAT(refused("<system version=\"2\"/>"), Contains("version=\"2\"") && Contains("only version 1"));
  const auto in_cpu = [](const std::string& text) {
    return refused("<system version=\"1\">\n<cpu numaid=\"0\">\n" + text + "</cpu></system>");
  };
  CHECK_THAT(in_cpu("<pci busid=\"7\"/>"),
             Contains("x.xml:3: busid=\"7\" of <pci>") && Contains("0000:07:00.0"));
  CHECK_THAT(in_cpu("<nic>\n<net name=\"a\" speed=\"fast\"/></nic>"),
             Contains("x.xml:4: speed=\"fast\" of <net>"));
  CHECK_THAT(in_cpu("<net/>"), Contains("needs a name"));
  CHECK_THAT(in_cpu("<gpu/>"), Contains("is in no <pci>"));
  const std::string gpu = "<pci busid=\"0000:01:00.0\" class=\"0x030200\">";
  CHECK_THAT(in_cpu(gpu + "<gpu sm=\"x\"/></pci>"), Contains("sm=\"x\" of <gpu>") && Contains("0 to 1000"));
  CHECK_THAT(in_cpu(gpu + "<gpu><nvlink target=\"0000:02:00.0\" count=\"0\"/></gpu></pci>"),
             Contains("count=\"0\" of <nvlink>") && Contains("1 to 64"));
  CHECK_THAT(in_cpu(gpu + "<gpu><nvlink/></gpu></pci>"), Contains("target=\"\" of <nvlink>"));
  CHECK_THAT(in_cpu(gpu + "<gpu/></pci>\n" + gpu + "</pci>"),
             Contains("x.xml:4: there are two GPUs at 0000:01:00.0"));
  CHECK_THAT(refused("<system version=\"1\"><cpu>\n<pci busid=\"0000:01:00.0\" class=\"0x060400\">\n"
                     "<pci busid=\"0000:01:00.0\" class=\"0x060400\"/></pci></cpu></system>"),
             Contains("x.xml:3: busid=\"0000:01:00.0\" of <pci>: there are two switches at this address"));
  CHECK_THAT(refused("<system version=\"1\"><cpu affinity=\"xyz\"/></system>"),
             Contains("affinity=\"xyz\" of <cpu>"));
  CHECK_THAT(refused("<system version=\"1\"><cpu numaid=\"-2\"/></system>"),
             Contains("numaid=\"-2\" of <cpu>"));
  std::string deep = "<system version=\"1\"><cpu>";
  for (int i = 0; i < 40; ++i)
    deep += "<pci busid=\"0000:" + std::to_string(10 + i) + ":00.0\" class=\"0x060400\">";
  for (int i = 0; i < 40; ++i) deep += "</pci>";
  CHECK_THAT(refused(deep + "</cpu></system>"), Contains("more than 32 deep"));
}

}  // namespace
}  // namespace strata::topology::test
