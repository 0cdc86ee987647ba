// What a drawing of a topology shows, as boxes within boxes; how they look is the drawing's business.
#pragma once
#include <string>
#include <vector>

#include "ccl/topology/topology.hpp"

namespace strata::topo {

enum class Kind { cluster, group, host, package, numa, l3, pcie_switch, core, gpu, nic };

struct Box {
  Kind kind = Kind::host;
  std::string title;  // of a core: its CPUs
  std::string note;   // what is told beside it: a rate, a model
  int gpu = -1;       // of a GPU: its index
  std::vector<Box> children{};
};

// The packages, nodes and caches of a machine that hold the same cores are one box with all their names.
// Devices are in the box of their node, below their PCIe switch.
Box machine_diagram(const topology::Machine& machine);

// The groups of hosts, and which hosts are in them; the last box of each is innermost.
Box cluster_diagram(const topology::Topology& topology);

}  // namespace strata::topo
