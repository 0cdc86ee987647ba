// What was measured on this machine before, in a small file.
#pragma once
#include <string>

#include "ccl/base/environment.hpp"
#include "ccl/planner/costs_text.hpp"
#include "ccl/topology/topology.hpp"

namespace strata {

// A file is valid for one key: the version, the kernel, and the hardware.
struct CostCache {
  std::string folder;  // empty: nothing is kept
  std::string key;     // lines

  std::string path() const;
  // What the file has; nothing if it is not there, broken, or another machine's (told at level debug).
  MeasuredCosts read() const;
  // Replaces the file as a whole. What goes wrong is told at level debug, and nothing else comes of it.
  void write(const MeasuredCosts& costs) const;
};

// $XDG_CACHE_HOME/strata, or ~/.cache/strata; empty if the environment names neither.
std::string cache_folder(const Environment& environment);
// This host's; machine: what is known of its parts.
CostCache cost_cache_of(const topology::Machine& machine);

}  // namespace strata
