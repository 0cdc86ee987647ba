// Hosts that describe themselves, put together to one topology.
#pragma once
#include <string>

#include "ccl/topology/topology.hpp"

namespace strata::topology {

// The host has this machine from now on; it is added if the topology does not have it yet. Hosts whose
// machines are alike but for their names share one. What the topology stated of the host's group and slots
// stays, and so do the rails of NICs that have the same names.
void set_machine(const std::string& host, Machine machine, Topology& topology);

}  // namespace strata::topology
