// A topology drawn as an SVG picture.
#pragma once
#include <string>

#include "ccl/topology/topology.hpp"

namespace strata::topo {

// The cluster, if there is more than one host, and each kind of machine once; links between GPUs as lines.
std::string draw_svg(const topology::Topology& topology);

}  // namespace strata::topo
