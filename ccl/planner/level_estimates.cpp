#include "ccl/planner/level_estimates.hpp"

#include <algorithm>

#include "ccl/planner/link_levels.hpp"

namespace strata {
namespace {

// By group, in the order of their first ranks.
std::vector<std::vector<Rank>> groups_of(const std::vector<int>& group) {
  std::vector<std::vector<Rank>> groups;
  std::vector<int> numbers;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    const auto known = std::find(numbers.begin(), numbers.end(), group[rank]);
    const auto index = static_cast<std::size_t>(known - numbers.begin());
    if (known == numbers.end()) {
      numbers.push_back(group[rank]);
      groups.emplace_back();
    }
    groups[index].push_back(static_cast<Rank>(rank));
  }
  return groups;
}

LevelEstimate estimate_of(const LinkLevels::Level& level) {
  const LinkCost& c = level.cost;
  LevelEstimate e{
      level.name, groups_of(level.group), std::string(medium_of(level.kind)), -1, -1, level.measured, false};
  e.latency_us = static_cast<double>(c.send_ps + c.latency_ps + c.recv_ps) / kPicosecondsPerMicrosecond;
  const Picoseconds slowest = std::max({c.send_ps_per_kib, c.recv_ps_per_kib, c.wire_ps_per_kib});
  e.gigabits_per_second = static_cast<double>(rate_at(slowest)) / 1e9;
  return e;
}

}  // namespace

std::vector<LevelEstimate> level_estimates(const CostModel& model) {
  std::vector<LevelEstimate> all;
  if (model.links == nullptr) return all;
  for (const LinkLevels::Level& level : model.links->levels) {
    all.push_back(estimate_of(level));
    // Of some of a job's ranks, levels may add nothing.
    const std::size_t before = all.size() > 1 ? all[all.size() - 2].groups.size() : level.group.size();
    if (all.back().groups.size() == before) all.pop_back();
  }
  if (model.levels == nullptr) return all;
  for (const topology::Level& level : model.levels->levels) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const LevelEstimate& e) { return e.groups == level.groups; });
    if (same != all.end())
      same->used = true;
    else
      all.push_back({level.name, level.groups, "", -1, -1, false, true});
  }
  return all;
}

}  // namespace strata
