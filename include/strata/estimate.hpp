// What a collective is expected to take, before it is called.
#pragma once
#include <cstdint>
#include <string>

namespace strata {

// One way to do a call.
struct Estimate {
  std::string algorithm;            // as CallOptions::algorithm takes it
  std::uint64_t segment_bytes = 0;  // its pieces; only the chosen one's can be had by name
  double time_us = -1;              // predicted by the cost model; -1: it has no model of this one
  bool chosen = false;              // what the call would take
};

}  // namespace strata
