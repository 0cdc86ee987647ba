// Which parts of its machine a rank is in, and which NICs are near it.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/topology.hpp"

namespace strata::topology {

// Indices into the machine's lists, in the order of kHostLevels up to "gpu_island"; kNone: in no such part,
// or in several.
using Position = std::array<int, std::size(kHostLevels) - 1>;

// Pure; place.gpu must be one of the machine's or kNone.
Position position_of(const Machine& machine, const Place& place);

// For each GPU, which others it reaches by links alone, over any number of them: those with the same number.
// kNone: it has no link.
std::vector<int> gpu_islands(const Machine& machine);

// The package that the NUMA node is in; kNone: not known, or in several.
int package_of(const Machine& machine, int numa);

enum class Nearness { pcie_switch, numa, package, machine };  // of two things: what they have in common

struct NearNics {
  Nearness nearness = Nearness::machine;
  std::vector<int> nics;  // ascending; empty: the machine has none
};
// All NICs that are as near as the nearest one. place.gpu as above; without a GPU the place is where its CPUs
// are.
NearNics nics_near(const Machine& machine, const Place& place);

}  // namespace strata::topology
