// Costs as text, to tell other ranks and to keep in a file.
#pragma once
#include <bitset>
#include <string>
#include <string_view>

#include "ccl/planner/cost_model.hpp"

namespace strata {

// Costs, and which of them were measured; the others are the built-in ones.
struct MeasuredCosts {
  Costs costs = default_costs();
  std::bitset<kLinkKinds> links;  // by LinkKind
  bool local = false;

  bool has(LinkKind kind) const { return links[static_cast<std::size_t>(kind)]; }
  void set(LinkKind kind, const LinkCost& cost) {
    costs.of(kind) = cost;
    links.set(static_cast<std::size_t>(kind));
  }
  friend bool operator==(const MeasuredCosts&, const MeasuredCosts&) = default;
};

// What was measured, a line each: a name and whole numbers.
std::string to_text(const MeasuredCosts& costs);

// Adds what the text holds to `into`. false, and nothing is added: something in it is not as to_text() writes
// it, or is beyond all reason.
bool add_text(std::string_view text, MeasuredCosts& into);

}  // namespace strata
