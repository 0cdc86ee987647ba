// Who holds which elements while data are shared out over the levels of a hierarchy: the arithmetic beneath
// the hierarchical algorithms. Pure, and the same on all ranks.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/algorithms/algorithm.hpp"

namespace strata {

struct Interval {
  std::uint64_t begin = 0, end = 0;  // elements
  friend bool operator==(const Interval&, const Interval&) = default;
};

// A part of the data for each of a group's ranks, each element at one rank: ascending, none empty.
struct Holding {
  Interval interval;
  Rank owner = kNoRank;
  friend bool operator==(const Holding&, const Holding&) = default;
};
using Holdings = std::vector<Holding>;

// A group of ranks and the groups of the next level inside it; of one rank: none. A group that holds only one
// other is left out.
struct Nest {
  std::vector<Rank> ranks;  // ascending
  std::vector<Nest> inner;
  std::vector<std::uint64_t> shares;      // of the inner groups, of kWholeShare; empty: equal
  std::size_t index_of(Rank rank) const;  // of the inner group it is in
};
Nest nest_of(const Group& group);

// The data shared out over the nest's ranks so that each of its inner groups, and each of theirs, has its
// share (to an element), and what a rank gets is part of what it has of each inner group's data.
Holdings share_out(const Nest& nest, Interval data);
// The same when it is given what each rank of `outer` ends up with: an inner group holds all of it, what
// belongs to a rank of another inner group at the rank that sits in the same place.
Holdings hand_down(const Holdings& given, const Nest& outer, std::size_t inner);

// Ranks, one of each inner group of a nest, that hold the same elements, and which of them each is to have in
// the end of a reduce-scatter, or has at the beginning of an all-gather.
struct Exchange {
  Group group;
  std::vector<std::vector<Interval>> shares;  // by index in the group
  bool unequal = false;                       // they are so on purpose: see unequal_shares()
};
// Those that `me` takes part in, in the order of their elements. inner[i]: held by inner group i; outer: what
// is had of it. inner[index] is of the group that me is in.
std::vector<Exchange> exchanges(std::span<const Holdings> inner, const Holdings& outer, std::size_t index,
                                Rank me);

// Where several holdings of the same data cut, all together. owners[i]: by the i-th.
struct Cut {
  Interval interval;
  std::vector<Rank> owners;
};
std::vector<Cut> cut(std::span<const Holdings> all);

}  // namespace strata
