// Where ranks sit, as the command line says.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ccl/topology/hierarchy.hpp"

namespace strata::topo {

// ranks on each host, one host after the other, in the order of the topology; 0: as many as the host has
// slots, else GPUs, else cores, else one. Each has a GPU of its own if there are enough, else an even share
// of the cores, as strata-run gives it; where ranks outnumber cores, all of them.
std::vector<topology::Place> fill_hosts(const topology::Topology& topology, int ranks);

// "HOST", "HOST:0-3" (CPUs) or "HOST:gpu2", each a rank. Error: invalid_argument that names what is wrong.
Expected<std::vector<topology::Place>> parse_places(std::span<const std::string> places);

}  // namespace strata::topo
