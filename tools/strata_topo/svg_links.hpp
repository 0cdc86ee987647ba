// The links between a machine's GPUs as a picture: GPUs on a circle.
#pragma once
#include "ccl/topology/topology.hpp"
#include "tools/strata_topo/svg_writer.hpp"

namespace strata::topo {

inline constexpr double kLinksSize = 380;  // width and height of the panel, pixels

// Draws nothing and returns false if there are no links.
bool draw_gpu_links(const topology::Machine& machine, double x, double y, SvgWriter& svg);

}  // namespace strata::topo
