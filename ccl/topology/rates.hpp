// What links carry by what the topology states of them, where nothing was measured.
#pragma once
#include <vector>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/topology.hpp"

namespace strata::topology {

// What the host's NICs carry together in one direction; 0: not known of one of them, or there is none.
BitsPerSecond host_rate(const Topology& topology, int host);

// What the way out of the group carries in one direction; 0: not known, or there is nothing in it.
BitsPerSecond uplink_rate(const Topology& topology, int group);

// What each of two hosts gets of the way between them while all hosts of the groups that it leaves send that
// way too: the lower of their own rates, divided by the oversubscription of the groups on the way. 0: not
// known. a, b: indices of two different hosts.
BitsPerSecond rate_between(const Topology& topology, int a, int b);

// Fills in Level::rates. host_of: of each rank, the index of its host.
void state_rates(Hierarchy& hierarchy, const std::vector<int>& host_of, const Topology& topology);

}  // namespace strata::topology
