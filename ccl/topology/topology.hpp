// Machines and a cluster of them, as plain data: what there is, what is near what, and what each link
// carries.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace strata::topology {

// An index that points nowhere: it does not apply, or is not known.
inline constexpr int kNone = -1;

using BitsPerSecond = std::uint64_t;  // one direction; 0: not known

// A core's package, NUMA node and L3 cache are told apart, since firmware nests them in any order.
struct Core {
  int package = kNone, numa = kNone, l3 = kNone;  // indices into the machine's lists
  std::vector<int> cpus;                          // the system's numbers of its hardware threads, ascending
  friend bool operator==(const Core&, const Core&) = default;
};

struct Package {
  std::string model;
  friend bool operator==(const Package&, const Package&) = default;
};

struct NumaNode {
  int number = 0;                  // the system's
  std::uint64_t memory_bytes = 0;  // 0: not known
  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

struct L3 {
  std::uint64_t bytes = 0;  // 0: not known
  friend bool operator==(const L3&, const L3&) = default;
};

// One that joins at least two devices or switches. pcie_rate, here and below: of the link that it hangs on.
struct PcieSwitch {
  std::string address;  // of its upstream port, "0000:07:00.0"
  int numa = kNone;
  int parent = kNone;  // the switch it hangs on
  BitsPerSecond pcie_rate = 0;
  friend bool operator==(const PcieSwitch&, const PcieSwitch&) = default;
};

struct Gpu {
  std::string address;  // on PCIe
  std::string model;    // empty: not known
  int numa = kNone, pcie_switch = kNone;
  BitsPerSecond pcie_rate = 0;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// A direct way between two GPUs, such as NVLink.
struct GpuLink {
  int a = kNone;
  int b = kNone;           // kNone: a switch that all GPUs with such a link share
  BitsPerSecond rate = 0;  // of all its lanes together
  friend bool operator==(const GpuLink&, const GpuLink&) = default;
};

struct Nic {
  std::string name;     // its network interface's, "eth0"; if it has none, as rdma
  std::string rdma;     // its RDMA device's, "mlx5_0"; empty: it has none
  std::string address;  // on PCIe; empty: not known, or a virtual one
  BitsPerSecond rate = 0;
  int numa = kNone, pcie_switch = kNone;
  int rail = kNone;  // index into the topology's rails
  BitsPerSecond pcie_rate = 0;
  friend bool operator==(const Nic&, const Nic&) = default;
};

// One kind of machine: hosts that are alike share it.
struct Machine {
  std::string name;
  std::vector<Package> packages;
  std::vector<NumaNode> numa_nodes;
  std::vector<L3> l3s;
  std::vector<Core> cores;
  std::vector<PcieSwitch> pcie_switches;
  std::vector<Gpu> gpus;
  std::vector<GpuLink> gpu_links;
  std::vector<Nic> nics;
  friend bool operator==(const Machine&, const Machine&) = default;
};

struct Host {
  std::string name;
  int machine = kNone;
  int slots = 0;      // ranks it may have; 0: any number
  int group = kNone;  // the innermost group it is in
  friend bool operator==(const Host&, const Host&) = default;
};

// A rack, a row, ...: hosts that share a way to the rest.
struct Group {
  std::string name;
  int level = kNone;            // index into the topology's levels
  int parent = kNone;           // a group of a higher level
  double oversubscription = 1;  // what its members send at most, divided by what its uplink carries
  friend bool operator==(const Group&, const Group&) = default;
};

// A network of its own that joins one NIC of each host.
struct Rail {
  std::string name;
  double oversubscription = 1;
  friend bool operator==(const Rail&, const Rail&) = default;
};

// What a message pays between two ranks whose innermost common group is of this level.
struct PairCost {
  std::string level;   // a level's name, "numa" or "rack"
  std::string medium;  // what carries it, "shm" or "tcp"
  std::int64_t latency_ps = 0;
  BitsPerSecond rate = 0;
  friend bool operator==(const PairCost&, const PairCost&) = default;
};

struct Topology {
  std::vector<std::string> levels;  // of groups above hosts, from the inside out: "rack", "row"
  std::vector<Group> groups;
  std::vector<Rail> rails;
  std::vector<Machine> machines;
  std::vector<Host> hosts;
  std::vector<PairCost> costs;  // measured
  friend bool operator==(const Topology&, const Topology&) = default;
};

}  // namespace strata::topology
