#include "ccl/trace/clock_offset.hpp"

#include <algorithm>

namespace strata::trace {

ClockOffset estimate_offset(std::span<const ClockSample> samples) {
  const auto round_trip = [](const ClockSample& s) { return s.back_ns - s.sent_ns; };
  const ClockSample& best = *std::min_element(
      samples.begin(), samples.end(),
      [&](const ClockSample& a, const ClockSample& b) { return round_trip(a) < round_trip(b); });
  const std::int64_t half = round_trip(best) / 2;
  return {best.theirs_ns, best.theirs_ns - (best.sent_ns + half), half + 1};
}

}  // namespace strata::trace
