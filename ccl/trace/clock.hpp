// What records are timed by: the processor's counter where it is steady, since the system's clock takes more
// than twice as long to read. Both are read together now and then, so that one can be told by the other.
#pragma once
#include <time.h>
#include <x86intrin.h>

#include <cstdint>

namespace strata::trace {

// CLOCK_MONOTONIC, which all processes of a host share.
inline std::uint64_t monotonic_ns() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// Does the counter run at one rate, whatever the cores do? Otherwise ticks are nanoseconds.
bool has_steady_counter();

// One moment by both clocks.
struct Anchor {
  std::uint64_t ticks = 0, ns = 0;
};
Anchor read_anchor();

// The line through two moments.
class TickRate final {
 public:
  TickRate(const Anchor& a, const Anchor& b)
      : origin_(a),
        ns_per_tick_(a.ticks == b.ticks
                         ? 1.0
                         : static_cast<double>(b.ns - a.ns) / static_cast<double>(b.ticks - a.ticks)) {}
  std::uint64_t ns_at(std::uint64_t ticks) const {
    const auto since = static_cast<std::int64_t>(ticks - origin_.ticks);
    return origin_.ns +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<double>(since) * ns_per_tick_));
  }
  // So that what ended before something else began still has.
  std::uint64_t ns_between(std::uint64_t begin, std::uint64_t end) const { return ns_at(end) - ns_at(begin); }

 private:
  const Anchor origin_;
  const double ns_per_tick_;
};

}  // namespace strata::trace
