// The visits of moves.hpp.
#pragma once
#include "ccl/local/moves.hpp"

namespace strata {
namespace moves {

struct Block {
  std::uint64_t begin, length;  // in the large buffer
};

// Block i of a part.
inline Block block(const Shape& s, int part, std::uint64_t i) {
  const std::uint64_t length = s.length(part), at = std::min(i * s.block_bytes, length);
  return {s.begin(part) + at, std::min(s.block_bytes, length - at)};
}

// Reductions in two halves: sums go back into slots, behind the blocks of all parts.
inline bool two_halves(const Shape& s) {
  return (s.collective == Collective::all_reduce || s.collective == Collective::reduce) && !s.whole;
}
inline std::uint64_t sum_slot(const Shape& s) { return static_cast<std::uint64_t>(s.size) * s.block_bytes; }
inline std::uint64_t slot_of(const Shape& s, int part) {
  return static_cast<std::uint64_t>(part) * s.block_bytes;
}

}  // namespace moves

template <class Visitor>
void visit_puts(const Shape& s, std::uint64_t i, Visitor&& visit) {
  const auto put = [&](moves::Block b, std::uint64_t slot, std::uint64_t input) {
    if (b.length > 0) visit(Put{input, b.length, slot});
  };
  const auto put_others = [&] {  // a block of each other member's part
    for (int p = 0; p < s.size; ++p)
      if (p != s.me) {
        const moves::Block b = moves::block(s, p, i);
        put(b, moves::slot_of(s, p), b.begin);
      }
  };
  const auto put_own = [&](int part) {  // of a buffer that is that part only
    const moves::Block b = moves::block(s, part, i);
    put(b, 0, b.begin - s.begin(part));
  };
  switch (s.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      if (!s.whole) return put_others();
      return s.collective == Collective::reduce && s.is_root() ? void() : put_own(0);
    case Collective::reduce_scatter:
    case Collective::all_to_all: return put_others();
    case Collective::all_gather: return put_own(s.me);
    case Collective::gather: return s.is_root() ? void() : put_own(s.me);
    case Collective::broadcast: return s.is_root() ? put_own(0) : void();
    case Collective::scatter: return s.is_root() ? put_others() : void();
    default: return;
  }
}

template <class Visitor>
void visit_sums(const Shape& s, std::uint64_t i, Visitor&& visit) {
  if (i == 0 || !s.reduces()) return;
  const int part = s.whole ? 0 : s.me;
  const moves::Block b = moves::block(s, part, i - 1);
  if (b.length == 0) return;
  const bool root_only = s.collective == Collective::reduce;
  if (root_only && s.whole && !s.is_root()) return;
  Sum sum{};
  sum.input = b.begin;
  sum.length = b.length;
  sum.slot = s.whole ? 0 : moves::slot_of(s, s.me);
  sum.to_output = !root_only || s.is_root();
  sum.output = s.collective == Collective::reduce_scatter ? b.begin - s.begin(s.me) : b.begin;
  sum.to_slot = moves::two_halves(s) && !(root_only && s.is_root());
  sum.into_slot = moves::sum_slot(s);
  visit(sum);
}

template <class Visitor>
void visit_gets(const Shape& s, std::uint64_t i, Visitor&& visit) {
  if (i == 0) return;
  const auto get = [&](int peer, std::uint64_t slot, std::uint64_t length, std::uint64_t output) {
    if (length > 0) visit(Get{peer, slot, length, output});
  };
  const auto get_parts = [&](auto&& slot_at) {  // of every other member, its part
    for (int q = 0; q < s.size; ++q)
      if (q != s.me) {
        const moves::Block b = moves::block(s, q, i - 1);
        get(q, slot_at(q), b.length, b.begin);
      }
  };
  switch (s.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      // Sums of block i - 2 are in the slots of round i - 1.
      if (s.whole || i < 2 || (s.collective == Collective::reduce && !s.is_root())) return;
      for (int q = 0; q < s.size; ++q)
        if (q != s.me) {
          const moves::Block b = moves::block(s, q, i - 2);
          get(q, moves::sum_slot(s), b.length, b.begin);
        }
      return;
    case Collective::all_gather: return get_parts([](int) { return std::uint64_t{0}; });
    case Collective::gather:
      if (s.is_root()) get_parts([](int) { return std::uint64_t{0}; });
      return;
    case Collective::all_to_all: return get_parts([&](int) { return moves::slot_of(s, s.me); });
    case Collective::broadcast:
    case Collective::scatter:
      if (!s.is_root()) {
        const bool all = s.collective == Collective::broadcast;
        const int part = all ? 0 : s.me;
        const moves::Block b = moves::block(s, part, i - 1);
        get(s.root, all ? 0 : moves::slot_of(s, s.me), b.length, b.begin - s.begin(part));
      }
      return;
    default: return;
  }
}

template <class Visitor>
void visit_keeps(const Shape& s, Visitor&& visit) {
  const auto keep = [&](std::uint64_t input, std::uint64_t output, std::uint64_t length) {
    if (length > 0) visit(Keep{input, length, output});
  };
  const std::uint64_t mine = s.begin(s.me), length = s.length(s.me);
  switch (s.collective) {
    case Collective::all_gather: return keep(0, mine, length);
    case Collective::gather: return s.is_root() ? keep(0, mine, length) : void();
    case Collective::scatter: return s.is_root() ? keep(mine, 0, length) : void();
    case Collective::all_to_all: return keep(mine, mine, length);
    case Collective::broadcast: return s.is_root() ? keep(0, 0, s.total_bytes) : void();
    default: return;
  }
}

}  // namespace strata
