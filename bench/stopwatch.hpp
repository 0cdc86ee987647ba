// Times of very short things: repeated until long enough to measure, the best of several rounds.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace strata::bench {

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// ns per call of f, which is called about 50 ms long in each of 7 rounds. The best round is the one least
// disturbed.
template <class F>
double best_ns(F f) {
  constexpr double kRoundNs = 50e6;
  constexpr int kRounds = 7;
  std::uint64_t calls = 1;
  double best = 0;
  for (int round = 0; round < kRounds;) {
    const double begin = now_ns();
    for (std::uint64_t i = 0; i < calls; ++i) f();
    const double took = now_ns() - begin;
    if (took < kRoundNs / 2 && calls < (1ull << 40)) {
      calls *= 2;
      continue;
    }
    const double each = took / static_cast<double>(calls);
    best = round++ == 0 ? each : std::min(best, each);
  }
  return best;
}

}  // namespace strata::bench
