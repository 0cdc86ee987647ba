#include "ccl/trace/clock.hpp"

#include <cpuid.h>

#include <algorithm>

namespace strata::trace {
namespace {

constexpr unsigned kPowerManagementLeaf = 0x80000007, kInvariantCounter = 1u << 8;
constexpr int kTries = 5;  // an interrupt between the two readings would spoil one

}  // namespace

bool has_steady_counter() {
  static const bool steady = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return ::__get_cpuid(kPowerManagementLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
  }();
  return steady;
}

Anchor read_anchor() {
  if (!has_steady_counter()) {
    const std::uint64_t now = monotonic_ns();
    return {now, now};
  }
  Anchor best;
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = __rdtsc(), ns = monotonic_ns(), after = __rdtsc();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, ns};
  }
  return best;
}

}  // namespace strata::trace
