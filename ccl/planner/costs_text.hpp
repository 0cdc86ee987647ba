// Costs as text, to tell other ranks and to keep in a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ccl/planner/cost_model.hpp"

namespace strata {

// What was measured; the rest is as default_costs() has it.
struct MeasuredCosts {
  struct Link {
    std::string level;  // no control characters
    LinkKind kind = LinkKind::memory;
    LinkCost cost;
    friend bool operator==(const Link&, const Link&) = default;
  };
  std::vector<Link> links;  // one for each level and kind
  LocalCost local_cost = default_costs().local;
  bool local = false;  // was it measured?

  const LinkCost* find(std::string_view level, LinkKind kind) const;  // null: not measured
  void set(std::string_view level, LinkKind kind, const LinkCost& cost);
  friend bool operator==(const MeasuredCosts&, const MeasuredCosts&) = default;
};

// A line each: a name, whole numbers and, of links, the level.
std::string to_text(const MeasuredCosts& costs);

// Adds what the text holds to `into`. false, and nothing is added: something in it is not as to_text() writes
// it, or is beyond all reason.
bool add_text(std::string_view text, MeasuredCosts& into);

}  // namespace strata
