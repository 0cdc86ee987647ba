// What a rank's time went to, in figures and as a table. Pure.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ccl/trace/timeline.hpp"

namespace strata::trace {

// Sorted, and none touches the next.
std::vector<Interval> united(std::vector<Interval> intervals);
// Of two such lists: what is in the first alone.
std::vector<Interval> without(std::span<const Interval> a, std::span<const Interval> b);
Time length(std::span<const Interval> intervals);

// Where a rank's peers are, as seen from it.
struct Levels {
  std::vector<std::string> names;  // from the inside out
  std::vector<int> of_peer;        // an index into names
};

struct Usage {
  struct Queueing {
    std::uint64_t operations = 0;
    Time total = 0, longest = 0;
  };
  struct Traffic {
    std::uint64_t bytes = 0;  // sent; of shared memory: of the calls
    Time time = 0;            // in which some were under way
  };
  Time wall = 0;
  Time compute = 0;                                           // in spans marked so
  Time communication = 0;                                     // in which an operation was in flight
  Time exposed = 0;                                           // of that, outside of spans marked as compute
  Time waited = 0;                                            // by threads, in Work::wait() and its like
  std::map<std::int32_t, Queueing, std::greater<>> queueing;  // by priority
  std::vector<Traffic> traffic;                               // by level; then of shared memory
};
Usage usage_of(const Timeline& timeline, const Levels& levels);

struct RankUsage {
  Rank rank = 0;
  std::string host;
  std::uint64_t dropped = 0;
  Usage usage;
};
// For people. All have the same levels.
std::string usage_table(std::span<const RankUsage> ranks, std::span<const std::string> levels);

}  // namespace strata::trace
