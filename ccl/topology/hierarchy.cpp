#include "ccl/topology/hierarchy.hpp"

#include <algorithm>
#include <functional>

#include "ccl/base/check.hpp"
#include "ccl/topology/candidates.hpp"
#include "ccl/topology/partition.hpp"
#include "ccl/topology/rates.hpp"

namespace strata::topology {
namespace {

bool all_alike(const std::vector<BitsPerSecond>& rates) {
  return std::adjacent_find(rates.begin(), rates.end(), std::not_equal_to<>()) == rates.end();
}

}  // namespace

Expected<Hierarchy> hierarchy(std::span<const Place> places, const Topology& topology) {
  auto levels = candidate_levels(places, topology);
  if (!levels) return levels.status();
  Hierarchy made = nest(std::move(*levels));
  state_rates(made, *hosts_of(places, topology), topology);
  return made;
}

bool has_structure(const Hierarchy& hierarchy) {
  return hierarchy.levels.size() > 1 || (!hierarchy.levels.empty() && !hierarchy.levels[0].rates.empty());
}

Hierarchy among(const Hierarchy& hierarchy, std::span<const Rank> ranks) {
  if (hierarchy.levels.empty()) return {static_cast<int>(ranks.size()), {}};
  std::vector<Partition> whole;
  std::vector<NamedPartition> levels;
  for (const Level& level : hierarchy.levels) {
    whole.push_back(partition_of(level, hierarchy.size));
    levels.push_back({level.name, {}});
    for (const Rank rank : ranks)
      levels.back().groups.push_back(whole.back()[static_cast<std::size_t>(rank)]);
  }
  Hierarchy part = nest(std::move(levels));
  std::vector<std::vector<Rank>> members;  // the groups of the level before
  for (Rank rank = 0; rank < part.size; ++rank) members.push_back({rank});
  std::size_t i = 0;
  for (Level& level : part.levels) {
    while (hierarchy.levels[i].name != level.name) ++i;
    if (!hierarchy.levels[i].rates.empty())
      for (const std::vector<Rank>& group : members) {
        const auto rank = static_cast<std::size_t>(ranks[static_cast<std::size_t>(group[0])]);
        const std::size_t before = i == 0 ? rank : static_cast<std::size_t>(whole[i - 1][rank]);
        level.rates.push_back(hierarchy.levels[i].rates[before]);
      }
    if (all_alike(level.rates)) level.rates.clear();
    members = level.groups;
  }
  return part;
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
