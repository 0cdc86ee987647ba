#include "ccl/local/moves.hpp"

#include "ccl/base/check.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kLine = 64;  // blocks are whole lines, and so whole elements

std::uint64_t longest_part(const Shape& s) {
  if (s.begins.empty()) return s.length(0);  // no other is longer
  std::uint64_t longest = 0;
  for (int p = 0; p < s.size; ++p) longest = std::max(longest, s.length(p));
  return longest;
}

// Does a member's slot hold a block for each part, or only one?
bool block_for_each(const Shape& s) {
  return moves::two_halves(s) || s.collective == Collective::reduce_scatter ||
         s.collective == Collective::all_to_all || s.collective == Collective::scatter;
}

std::uint64_t blocks(const Shape& s) {
  const std::uint64_t longest = longest_part(s);
  if (longest <= s.block_bytes) return longest > 0;
  return (longest + s.block_bytes - 1) / s.block_bytes;
}

}  // namespace

void share_out(Shape& s, bool whole) {
  const auto n = static_cast<std::uint64_t>(s.size);
  const bool reduction = s.collective == Collective::all_reduce || s.collective == Collective::reduce;
  s.whole = reduction && whole;
  if (s.whole || s.collective == Collective::broadcast)
    s.part_bytes = s.total_bytes;  // one part, the others are empty
  else if (reduction)
    s.part_bytes = ((s.total_bytes + n - 1) / n + kLine - 1) / kLine * kLine;
}

void cut(Shape& s, std::uint64_t slot_bytes, std::uint64_t whole_bytes_max) {
  share_out(s, s.total_bytes <= whole_bytes_max);
  const auto n = static_cast<std::uint64_t>(s.size);
  const std::uint64_t in_a_slot = block_for_each(s) ? n + (moves::two_halves(s) ? 1 : 0) : 1;
  // What fits in one round is not spread over more of the slot than it needs.
  const std::uint64_t longest = std::max(kLine, (longest_part(s) + kLine - 1) / kLine * kLine);
  s.block_bytes = longest;
  if (longest > slot_bytes || longest * in_a_slot > slot_bytes)
    s.block_bytes = slot_bytes / in_a_slot / kLine * kLine;
  STRATA_CHECK(s.block_bytes > 0, slot_bytes, s.size);
}

std::uint64_t rounds(const Shape& s) {
  if (s.collective == Collective::barrier) return 1;
  return blocks(s) + (moves::two_halves(s) && s.total_bytes > 0 ? 1 : 0);
}

std::uint64_t slot_use(const Shape& s) {
  if (s.collective == Collective::barrier) return 0;
  if (!block_for_each(s)) return s.block_bytes;
  return moves::sum_slot(s) + (moves::two_halves(s) ? s.block_bytes : 0);
}

bool publishes(const Shape& s, std::uint64_t round) {
  switch (s.collective) {
    case Collective::broadcast:
    case Collective::scatter: return s.is_root();
    case Collective::gather: return !s.is_root();
    case Collective::reduce:
      if (s.whole) return !s.is_root();
      return !s.is_root() || round + 1 < rounds(s);  // the root has no sums for others
    default: return true;
  }
}

bool sums_into_slot(const Shape& s, std::uint64_t i) {
  return moves::two_halves(s) && i >= 1 && i < rounds(s) &&
         !(s.collective == Collective::reduce && s.is_root());
}

Sources sources(const Shape& s, std::uint64_t i) {
  if (i == 0) return Sources::nobody;
  switch (s.collective) {
    case Collective::broadcast:
    case Collective::scatter: return s.is_root() ? Sources::nobody : Sources::root;
    case Collective::gather: return s.is_root() ? Sources::everybody : Sources::nobody;
    case Collective::reduce:
      if (s.is_root()) return Sources::everybody;
      return s.whole || i == rounds(s) ? Sources::nobody : Sources::everybody;
    default: return Sources::everybody;
  }
}

}  // namespace strata
