// Interns expressions.
#include "ccl/schedule/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ccl/base/check.hpp"

namespace strata {

Expressions::Expressions(int ranks) : ranks_(ranks), words_((static_cast<std::size_t>(ranks) + 63) / 64) {
  const std::size_t n = static_cast<std::size_t>(ranks) + 1;
  nodes_.assign(n, {Kind::input, 1});
  nodes_[kUndefined] = {Kind::undefined, 0};
  sets_.assign(n * words_, 0);
  for (std::size_t r = 0; r + 1 < n; ++r) sets_[(r + 1) * words_ + r / 64] |= std::uint64_t{1} << (r % 64);
}

ExpressionId Expressions::combine(Kind kind, ExpressionId a, ExpressionId b) {
  return intern(kind, std::min(a, b), std::max(a, b));
}

ExpressionId Expressions::intern(Kind kind, ExpressionId a, ExpressionId b) {
  constexpr ExpressionId kIdsMax = 1u << 30;
  const std::uint64_t key = static_cast<std::uint64_t>(kind) << 60 | static_cast<std::uint64_t>(a) << 30 | b;
  if (key == last_key_) return last_id_;
  const auto [it, fresh] = ids_.try_emplace(key, static_cast<ExpressionId>(nodes_.size()));
  if (fresh) {
    STRATA_CHECK(nodes_.size() < kIdsMax, nodes_.size());
    std::uint32_t contributions = 0;
    bool common = false;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t of_a = set_of(a)[w], of_b = set_of(b)[w];
      common = common || (of_a & of_b) != 0;
      sets_.push_back(of_a | of_b);
      contributions += static_cast<std::uint32_t>(std::popcount(of_a | of_b));
    }
    nodes_.push_back({kind, contributions});
    if (common) it->second = kUndefined;
  }
  last_key_ = key;
  return last_id_ = it->second;
}

bool Expressions::is_complete(ExpressionId a) const {
  return nodes_[a].contributions == static_cast<std::uint32_t>(ranks_);
}

std::string Expressions::describe(ExpressionId a) const {
  if (a == kUndefined) return "nothing defined";
  std::string ranks;
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks_); ++r)
    if (set_of(a)[r / 64] >> (r % 64) & 1) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", r);
  return fmt::format("{}the contribution of rank{} {}", is_finished(a) ? "finished, " : "",
                     nodes_[a].contributions == 1 ? "" : "s", ranks);
}

}  // namespace strata
