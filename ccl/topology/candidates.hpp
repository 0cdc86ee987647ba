// The levels that a topology has for ranks at these places, before any is left out or cut.
#pragma once
#include <span>
#include <vector>

#include "ccl/topology/partition.hpp"

namespace strata::topology {

// Of each rank, the index of its host. Errors: invalid_argument that names the rank and the host.
Expected<std::vector<int>> hosts_of(std::span<const Place> places, const Topology& topology);

// From the inside out; the last is the one of all ranks. Errors: as hierarchy().
Expected<std::vector<NamedPartition>> candidate_levels(std::span<const Place> places,
                                                       const Topology& topology);

}  // namespace strata::topology
