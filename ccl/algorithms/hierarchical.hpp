// What the hierarchical algorithms have in common. Each level's data are split over the ranks of the level,
// so every rank works at every level, with its own near NIC; the data go through in segments, so that levels
// overlap.
#pragma once
#include <functional>
#include <vector>

#include "ccl/algorithms/ownership.hpp"
#include "ccl/algorithms/writer.hpp"

namespace strata {

// Where elements lie.
using Where = std::function<Slice(const Interval&)>;
Where in_order(Slice all, std::uint64_t element_bytes);                       // element 0 first
Where packed(Slice area, const Holdings& held, std::uint64_t element_bytes);  // one holding after another

// The nests that a rank is in, from the outside in, and which inner group of each it is in.
struct Stage {
  const Nest* nest;
  std::size_t index;
  const Nest& mine() const { return nest->inner[index]; }
};
std::vector<Stage> stages_of(const Nest& nest, Rank rank);

// Segments of about Tuning::segment_bytes.
std::uint64_t segments_of(std::uint64_t bytes, const Tuning& tuning);
Interval segment(const Interval& whole, std::uint64_t index, std::uint64_t count);

// Sum of what the exchange's ranks have in `from`; each rank's own shares go to `mine`, partial sums of
// others' through `passing`.
void reduce_scatter(Writer& writer, const Exchange& exchange, const Where& from, const Where& passing,
                    const Where& mine);
void all_gather(Writer& writer, const Exchange& exchange, const Where& data);

}  // namespace strata
