// The links between a machine's GPUs as text.
#pragma once
#include <string>

#include "ccl/topology/topology.hpp"

namespace strata::topo {

// A table of rates, or a sentence where a switch joins them; empty if there are none. Ends with a newline.
std::string describe_gpu_links(const topology::Machine& machine);

}  // namespace strata::topo
