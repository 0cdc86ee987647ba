// Which bytes go where when a group works through its slots. Pure: the group executes it, a test runs it on
// symbols for all members at once.
//
// A collective takes rounds() rounds. In iteration i, from 0 to rounds() inclusive, a member
//   1. puts what it has for others into its slot of round i,
//   2. waits for the slots of round i - 1 of those it reads from,
//   3. reduces what it found there, into its output, or for others into its slot of round i,
//   4. gets what it found there into its output.
// It publishes round i after 1 if nothing of 3 goes into the slot, after 3 otherwise.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "strata/types.hpp"

namespace strata {

// A collective in bytes, as one member sees it.
struct Shape {
  Collective collective = Collective::barrier;
  int size = 1;
  int me = 0;
  Rank root = kNoRank;
  // The large buffer's parts, one a member: part p begins at p * part_bytes, and no part goes beyond
  // total_bytes; or at begins[p] (size + 1 entries) in the v forms.
  std::uint64_t part_bytes = 0, total_bytes = 0;
  std::span<const std::uint64_t> begins = {};
  bool whole = false;  // reductions to all or to the root: everybody puts everything, readers reduce
  std::uint64_t block_bytes = 0;  // of one part that go through one round

  std::uint64_t begin(int part) const {
    return begins.empty() ? std::min(static_cast<std::uint64_t>(part) * part_bytes, total_bytes)
                          : begins[static_cast<std::size_t>(part)];
  }
  std::uint64_t length(int part) const { return begin(part + 1) - begin(part); }
  std::uint64_t input_bytes(int member) const {
    const bool part = collective == Collective::all_gather || collective == Collective::gather;
    return part ? length(member) : total_bytes;
  }
  bool is_root() const { return me == root; }
  bool reduces() const {
    return collective == Collective::all_reduce || collective == Collective::reduce ||
           collective == Collective::reduce_scatter;
  }
};

enum class Sources : std::uint8_t { nobody, everybody, root };

struct Put {  // input -> my slot
  std::uint64_t input, length, slot;
};
struct Get {  // a peer's slot -> output
  int peer;
  std::uint64_t slot, length, output;
};
struct Sum {  // my input and all others' slots -> output, my slot, or both
  std::uint64_t input, length, slot;
  bool to_output, to_slot;
  std::uint64_t output, into_slot;
};
struct Keep {  // my input -> my output
  std::uint64_t input, length, output;
};

// Fills in part_bytes of reductions and broadcast (the others' parts are given), and `whole`, if it is a
// reduction that is to be done by every reader.
void share_out(Shape& shape, bool whole);
// How a call is cut, for slots of `slot_bytes`; up to `whole_bytes_max` a reduction is done by every reader.
// Shares it out, and fills in block_bytes.
void cut(Shape& shape, std::uint64_t slot_bytes, std::uint64_t whole_bytes_max);

std::uint64_t rounds(const Shape& shape);
// The bytes of a slot that are used: everything lies below this offset.
std::uint64_t slot_use(const Shape& shape);
bool publishes(const Shape& shape, std::uint64_t round);
// Does publishing round i wait for the sums of iteration i?
bool sums_into_slot(const Shape& shape, std::uint64_t iteration);
// Whom iteration i waits for, in round i - 1.
Sources sources(const Shape& shape, std::uint64_t iteration);

// The moves of iteration i, by step. Visitors are called with a Put, Sum, Get or Keep of some bytes.
template <class Visitor>
void visit_puts(const Shape& shape, std::uint64_t iteration, Visitor&& visit);
template <class Visitor>
void visit_sums(const Shape& shape, std::uint64_t iteration, Visitor&& visit);
template <class Visitor>
void visit_gets(const Shape& shape, std::uint64_t iteration, Visitor&& visit);
// What stays with this member, once, at any time before the end.
template <class Visitor>
void visit_keeps(const Shape& shape, Visitor&& visit);

}  // namespace strata

#include "ccl/local/moves-inl.hpp"
