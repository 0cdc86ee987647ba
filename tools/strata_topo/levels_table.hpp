// Levels of ranks, and the cards near them, as text.
#pragma once
#include <span>
#include <string>

#include "ccl/topology/hierarchy.hpp"

namespace strata::topo {

// Below a level, where known: what was measured, and what hosts that first meet there get of the way between
// them by what the topology states (rate_between). Lines no longer than width, unless one word is; each ends
// with a newline.
std::string describe_levels(const topology::Hierarchy& hierarchy, std::span<const topology::Place> places,
                            const topology::Topology& topology, int width);
std::string describe_near_nics(std::span<const topology::Place> places, const topology::Topology& topology,
                               int width);

}  // namespace strata::topo
