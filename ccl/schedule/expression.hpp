// How a value came about: whose contributions it holds, summed in which order, finished or not.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "strata/types.hpp"

namespace strata {

// Equal expressions have equal ids, and only they: values of equal ids are equal to the last bit if their
// inputs are. a + b and b + a are the same; (a + b) + c and a + (b + c) are not.
using ExpressionId = std::uint32_t;
inline constexpr ExpressionId kUndefined = 0;

class Expressions final {
 public:
  explicit Expressions(int ranks);

  ExpressionId input_of(Rank rank) const { return 1 + static_cast<ExpressionId>(rank); }
  // kUndefined if the operands have contributions in common.
  ExpressionId sum(ExpressionId a, ExpressionId b) { return combine(Kind::sum, a, b); }
  // A sum not yet rounded, to which more is added.
  ExpressionId wide_sum(ExpressionId a, ExpressionId b) { return combine(Kind::wide_sum, a, b); }
  ExpressionId rounded(ExpressionId a) { return intern(Kind::rounded, a, kUndefined); }
  ExpressionId finished(ExpressionId a) { return intern(Kind::finished, a, kUndefined); }

  bool is_finished(ExpressionId a) const { return nodes_[a].kind == Kind::finished; }
  bool is_complete(ExpressionId a) const;
  bool is_input_of(ExpressionId a, Rank rank) const { return a == input_of(rank); }
  std::string describe(ExpressionId a) const;  // "the contributions of ranks 0, 2"

 private:
  enum class Kind : std::uint8_t { undefined, input, sum, wide_sum, rounded, finished };
  struct Node {
    Kind kind;
    std::uint32_t contributions;  // how many ranks
  };
  ExpressionId combine(Kind kind, ExpressionId a, ExpressionId b);
  ExpressionId intern(Kind kind, ExpressionId a, ExpressionId b);
  std::span<const std::uint64_t> set_of(ExpressionId a) const { return {sets_.data() + a * words_, words_}; }

  int ranks_;
  std::size_t words_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> sets_;  // words_ a node: which ranks contribute
  std::unordered_map<std::uint64_t, ExpressionId> ids_;
  std::uint64_t last_key_ = ~0ull;  // the elements of a slice mostly are summed alike
  ExpressionId last_id_ = kUndefined;
};

}  // namespace strata
