// How far the first two cores are from each other now: nanoseconds one way, of a value that goes to and fro.
// The cores of a virtual machine are moved by its host, and the times of small messages follow.
#include <cstdio>

#include "bench/compare/method.hpp"
#include "bench/compare/team.hpp"

int main() {
  using namespace strata::compare;
  constexpr int kBatches = 5;
  constexpr std::uint64_t kRoundTrips = 2000;
  constexpr double kGiveUpS = 0.2;
  Team team(2);
  const bool first = team.rank() == 0;
  Counter& mine = team.board().put[first ? 0 : 1];
  const Counter& theirs = team.board().put[first ? 1 : 0];
  std::uint64_t value = 0;
  double best_ns = 1e12, ended = 0;
  const double start = now_s();
  for (int batch = 0; batch < kBatches && ended == 0; ++batch) {
    const double begin = now_s();
    for (std::uint64_t i = 0; i < kRoundTrips; ++i) {
      ++value;
      if (!first) wait_for(theirs, value);
      mine.value.store(value, std::memory_order_release);
      if (first) wait_for(theirs, value);
    }
    best_ns = std::min(best_ns, (now_s() - begin) / kRoundTrips / 2 * 1e9);
    ended = now_s() - start > kGiveUpS ? 1 : 0;
    team.slowest({&ended, 1});
  }
  if (first) std::printf("%.0f\n", best_ns);
  std::fflush(stdout);
  return 0;
}
