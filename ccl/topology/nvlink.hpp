// NVLinks as GPUs report them, lane by lane, and what they become.
#pragma once
#include <span>
#include <string>

#include "ccl/topology/topology.hpp"

namespace strata::topology {

// Lanes from one GPU to one other, or to a switch.
struct NvLanes {
  int gpu = kNone;
  std::string target;  // the other's PCIe address
  int count = 0;
  int compute_capability = 0;  // of the GPU, 80 for 8.0; 0: not known
  bool to_switch = false;
};

// What one lane carries in one direction, by its generation; 0: not known.
BitsPerSecond nvlink_lane_rate(int compute_capability);

// Adds the links. What both ends report is one link; what goes to a GPU that the machine does not have is
// none.
void add_nvlinks(std::span<const NvLanes> lanes, Machine& machine);

}  // namespace strata::topology
