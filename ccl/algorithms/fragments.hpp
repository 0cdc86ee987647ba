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
// [begin, end) of chunks that lie one after another.
Slice range(std::span<const Slice> chunks, int begin, int end);

// Reduce-scatters: sum over the group of addends[me], at index me. They read all addends and write sums[i] as
// partial sums on the way; addends[i] and sums[i] may be the same slice.

// Partial sums travel right and grow by one rank a round, until sums[me] is complete. What is written to
// sums[i] in one round is sent in the next: those used two rounds apart may share their memory.
void ring_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                         std::span<const Slice> sums);
// Recursive halving. The group's size is a power of two; addends lie one after another, and so do sums. The
// result goes to `mine`, which may be sums[me].
void halving_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                            std::span<const Slice> sums, Slice mine);
// Whether the chunks of neighbours lie one after another, so that a message carries several.
enum class Lie : std::uint8_t { apart, in_a_row };
// In ceil(log2 n) rounds for any n, each rank to one other. The result goes to `mine`, which may be sums[me].
void pat_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                        std::span<const Slice> sums, Slice mine, Lie lie);
// Each rank receives its part from all the others and sums it in one step, in rank order, rounded (and
// finished, if asked to) once. Writes to nothing but `mine`. `sets` has all addends of a piece but one.
void direct_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends, Slice mine,
                           Slots& sets, bool finish);

// All-gathers: chunks[me] is there, the others are received.
void ring_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks);
// Recursive doubling. The group's size is a power of two; chunks lie one after another.
void doubling_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks);
// The same backwards in time.
void pat_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks, Lie lie);
void direct_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks);

// The receiving end of a sum rounded once: `sum` = addends of all the group in rank order, mine from
// `addend`, the others from the wire (one message each), finished if asked to. A set of
// `sets` is in use until the sum is done; each holds all addends but one.
void receive_and_sum(Writer& writer, const Group& group, Slots& sets, Slice addend, Slice sum, int channel,
                     bool finish);
inline constexpr int kSumSets = 2;  // one is received into while the other is summed

// Makes a power of two of any group: of its first 2 * extra members the even ones sit out; their right
// neighbours act for both.
struct Fold {
  int extra = 0;
  int me = 0;
  Group active;  // those that take part; active.me is meaningful if this member does
  bool sits_out() const { return me < 2 * extra && me % 2 == 0; }
  bool acts_for_two() const { return me < 2 * extra && me % 2 == 1; }
};
Fold fold(const Group& group);

}  // namespace strata
