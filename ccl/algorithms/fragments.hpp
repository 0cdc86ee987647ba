// Pieces that algorithms are made of. Each works among one group and leaves order to derivation, so that they
// can be put one after another, on the same data and at several levels.
#pragma once
#include <span>
#include <vector>

#include "ccl/algorithms/writer.hpp"

namespace strata {

// chunks[i] is what index i of the group ends up with, or starts from.
using Chunks = std::vector<Slice>;
Chunks cut_evenly(Slice whole, int size, std::uint64_t element_bytes);
Chunks chunks_of(const Parts& parts, int size);

// Partial sums travel right and grow by one rank a round; sums[me] ends as the sum over the group of
// addends[me]. Reads all addends, and writes sums[i] as partial sums on the way. addends[i] and sums[i] may
// be the same slice. What is written to sums[i] in one round is sent in the next: those used two rounds apart
// may share their memory.
void ring_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                         std::span<const Slice> sums);

// chunks[me] is there; the others travel right until every rank has them all.
void ring_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks);

}  // namespace strata
