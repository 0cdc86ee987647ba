#include "ccl/topology/partition.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace strata::topology {
namespace {

std::vector<std::vector<Rank>> groups_of(const Partition& partition) {
  std::map<int, std::size_t> index;
  std::vector<std::vector<Rank>> groups;
  for (std::size_t rank = 0; rank < partition.size(); ++rank) {
    const auto [entry, first] = index.try_emplace(partition[rank], groups.size());
    if (first) groups.emplace_back();
    groups[entry->second].push_back(static_cast<Rank>(rank));
  }
  return groups;
}

// Ranks in none get the group that they have in `inner`.
void fill(Partition& partition, const Partition& inner) {
  const int above = partition.empty() ? 0 : 1 + *std::max_element(partition.begin(), partition.end());
  for (std::size_t rank = 0; rank < partition.size(); ++rank)
    if (partition[rank] == kNone) partition[rank] = above + inner[rank];
}

}  // namespace

Partition partition_of(const Level& level, int size) {
  Partition partition(static_cast<std::size_t>(size), kNone);
  for (std::size_t group = 0; group < level.groups.size(); ++group)
    for (const Rank rank : level.groups[group])
      partition[static_cast<std::size_t>(rank)] = static_cast<int>(group);
  return partition;
}

int group_count(const Partition& partition) {
  std::set<int> groups(partition.begin(), partition.end());
  groups.erase(kNone);
  return static_cast<int>(groups.size());
}

Partition meet(const Partition& a, const Partition& b) {
  std::map<std::pair<int, int>, int> number;
  Partition both(a.size(), kNone);
  for (std::size_t rank = 0; rank < a.size(); ++rank)
    if (a[rank] != kNone)
      both[rank] = number.try_emplace({a[rank], b[rank]}, static_cast<int>(number.size())).first->second;
  return both;
}

Hierarchy nest(std::vector<NamedPartition> partitions) {
  Partition inner(partitions.back().groups.size());
  std::iota(inner.begin(), inner.end(), 0);
  for (NamedPartition& partition : partitions) {
    fill(partition.groups, inner);
    inner = meet(partition.groups, partition.groups);  // small numbers again
  }
  for (std::size_t i = partitions.size() - 1; i-- > 0;)
    partitions[i].groups = meet(partitions[i].groups, partitions[i + 1].groups);
  std::size_t groups_before = partitions.back().groups.size();  // ranks alone
  Hierarchy hierarchy{static_cast<int>(groups_before), {}};
  for (NamedPartition& partition : partitions) {
    auto groups = groups_of(partition.groups);
    if (groups.size() == groups_before) continue;
    groups_before = groups.size();
    hierarchy.levels.push_back({std::move(partition.name), std::move(groups)});
  }
  return hierarchy;
}

}  // namespace strata::topology
