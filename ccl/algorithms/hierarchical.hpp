// What the hierarchical algorithms have in common. Each level's data are split over the ranks of the level,
// so every rank works at every level, with its own near NIC; the data go through in segments, so that levels
// overlap.
#pragma once
#include <vector>

#include "ccl/algorithms/exchange.hpp"

namespace strata {

Where in_order(Slice all, std::uint64_t element_bytes);                       // element 0 first
Where packed(Slice area, const Holdings& held, std::uint64_t element_bytes);  // one holding after another

// The nests that a rank is in, from the outside in, and which inner group of each it is in.
struct Stage {
  const Nest* nest;
  std::size_t index;
  const Nest& mine() const { return nest->inner[index]; }
};
std::vector<Stage> stages_of(const Nest& nest, Rank rank);

// Segments that have scratch of their own.
inline constexpr std::uint64_t kSegmentsInFlight = 4;

// What each begins with.
struct HierarchicalCall {
  HierarchicalCall(Program& program, const Request& request, const Group& group, const Tuning& tuning,
                   Exchanger::Pattern pattern);
  HierarchicalCall(const HierarchicalCall&) = delete;
  HierarchicalCall& operator=(const HierarchicalCall&) = delete;

  const Rank me;
  const Operands data;
  const std::uint64_t element;  // bytes
  const std::uint64_t count;    // of segments of about Tuning::segment_bytes
  const Nest nest;
  const std::vector<Stage> stages;
  Writer writer;
  Exchanger exchanger;

  Slots slots(std::uint64_t bytes) {
    return {writer.program(), bytes, static_cast<int>(std::min(count, kSegmentsInFlight))};
  }
};
Interval segment(const Interval& whole, std::uint64_t index, std::uint64_t count);

}  // namespace strata
