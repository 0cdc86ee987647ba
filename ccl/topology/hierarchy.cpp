#include "ccl/topology/hierarchy.hpp"

#include <algorithm>

#include "ccl/base/check.hpp"
#include "ccl/topology/candidates.hpp"
#include "ccl/topology/rates.hpp"

namespace strata::topology {

Expected<Hierarchy> hierarchy(std::span<const Place> places, const Topology& topology) {
  auto levels = candidate_levels(places, topology);
  if (!levels) return levels.status();
  Hierarchy made = nest(std::move(*levels));
  state_rates(made, *hosts_of(places, topology), topology);
  return made;
}

std::size_t common_level(const Hierarchy& hierarchy, Rank a, Rank b) {
  STRATA_CHECK(a != b && std::min(a, b) >= 0 && std::max(a, b) < hierarchy.size, a, b, hierarchy.size);
  const auto has_both = [&](const std::vector<Rank>& group) {
    return std::binary_search(group.begin(), group.end(), a) &&
           std::binary_search(group.begin(), group.end(), b);
  };
  std::size_t level = 0;
  while (std::none_of(hierarchy.levels[level].groups.begin(), hierarchy.levels[level].groups.end(), has_both))
    ++level;
  return level;
}

const PairCost* cost_of(const Topology& topology, std::string_view level, std::string_view medium) {
  const auto found = std::find_if(topology.costs.begin(), topology.costs.end(), [&](const PairCost& cost) {
    return cost.level == level && cost.medium == medium;
  });
  return found == topology.costs.end() ? nullptr : &*found;
}

}  // namespace strata::topology
