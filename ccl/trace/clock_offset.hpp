// How far two hosts' clocks are apart, as NTP finds it out: from messages there and back. Pure.
#pragma once
#include <cstdint>
#include <span>

#include "ccl/trace/part.hpp"

namespace strata::trace {

// By rank 0's clock, and by the other's between them.
struct ClockSample {
  std::int64_t sent_ns = 0, theirs_ns = 0, back_ns = 0;
};

// Of the sample with the shortest way there and back, whose error is at most half of that. at_ns is by the
// other's clock. samples: not empty.
ClockOffset estimate_offset(std::span<const ClockSample> samples);

}  // namespace strata::trace
