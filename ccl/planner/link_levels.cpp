#include "ccl/planner/link_levels.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ccl/base/check.hpp"
#include "ccl/topology/rates.hpp"

namespace strata {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

bool spans_hosts(const topology::Level& level, std::span<const int> host) {
  return std::any_of(level.groups.begin(), level.groups.end(), [&](const std::vector<Rank>& group) {
    return std::any_of(group.begin(), group.end(), [&](Rank r) { return host[at(r)] != host[at(group[0])]; });
  });
}

// Is the host in the group, or in one that is in it?
bool is_in(const topology::Topology& topology, const topology::Host& host, int group) {
  int around = host.group;
  while (around != topology::kNone && around != group) around = topology.groups[at(around)].parent;
  return around == group;
}

// Of each of the hosts, its index in the topology; kNone: it is not there.
std::vector<int> indices_of(const topology::Topology& topology, std::span<const std::string> names) {
  std::vector<int> indices;
  for (const std::string& name : names) {
    const auto found = std::find_if(topology.hosts.begin(), topology.hosts.end(),
                                    [&](const topology::Host& h) { return h.name == name; });
    indices.push_back(found == topology.hosts.end() ? topology::kNone
                                                    : static_cast<int>(found - topology.hosts.begin()));
  }
  return indices;
}

Picoseconds nic_of(const topology::Topology& topology, int host) {
  return host == topology::kNone ? 0 : ps_per_kib_at(topology::host_rate(topology, host));
}

}  // namespace

LinkLevels link_levels(const topology::Hierarchy& hierarchy, std::span<const int> host, LinkKind within) {
  const Costs usual = default_costs();
  LinkLevels links;
  for (const topology::Level& level : hierarchy.levels) {
    const LinkKind kind = spans_hosts(level, host) ? LinkKind::tcp : within;
    links.levels.push_back({level.name, kind, usual.of(kind), false, std::vector<int>(at(hierarchy.size))});
    for (std::size_t group = 0; group < level.groups.size(); ++group)
      for (const Rank rank : level.groups[group])
        links.levels.back().group[at(rank)] = static_cast<int>(group);
  }
  return links;
}

std::pair<Rank, Rank> pair_of(const LinkLevels& links, std::size_t level) {
  const std::vector<int>& group = links.levels[level].group;
  std::vector<Rank> first(group.size(), kNoRank);  // of each group
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    Rank& low = first[at(group[rank])];
    if (low == kNoRank)
      low = static_cast<Rank>(rank);
    else if (level == 0 || links.levels[level - 1].group[at(low)] != links.levels[level - 1].group[rank])
      return {low, static_cast<Rank>(rank)};
  }
  STRATA_CHECK(false, level, links.levels.size());
  return {};
}

std::vector<std::pair<Rank, Rank>> pairs_of(const LinkLevels& links, std::size_t level, std::size_t most) {
  const std::vector<int>& group = links.levels[level].group;
  std::map<int, Rank> single;          // of each group, the first rank of a part that has no partner yet
  std::set<std::pair<int, int>> seen;  // parts: group, and group of the level before
  std::vector<std::pair<Rank, Rank>> all;
  for (Rank rank = 0; rank < static_cast<Rank>(group.size()); ++rank) {
    const int part = level == 0 ? rank : links.levels[level - 1].group[at(rank)];
    if (!seen.emplace(group[at(rank)], part).second) continue;
    const auto [other, is_first] = single.try_emplace(group[at(rank)], rank);
    if (is_first) continue;
    all.emplace_back(other->second, rank);
    single.erase(other);
  }
  std::vector<std::pair<Rank, Rank>> some;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
    some.push_back(all[i * all.size() / std::min(most, all.size())]);
  return some;
}

std::string_view medium_of(LinkKind kind) { return kind == LinkKind::tcp_local ? "tcp" : to_string(kind); }

void add_shares(const topology::Topology& stated, const topology::Topology& found,
                std::span<const std::string> names, const LinkLevels& links, Placement& placement) {
  Picoseconds fastest = 0;
  for (const LinkLevels::Level& level : links.levels)
    if (level.kind == LinkKind::tcp)
      fastest = fastest == 0 ? level.cost.wire_ps_per_kib : std::min(fastest, level.cost.wire_ps_per_kib);
  const std::vector<int> indices = indices_of(stated, names), known = indices_of(found, names);
  for (std::size_t host = 0; host < names.size(); ++host) {
    const Picoseconds said = nic_of(stated, indices[host]), seen = nic_of(found, known[host]);
    placement.nic_ps_per_kib.push_back(said > 0 ? said : seen > 0 ? std::min(seen, fastest) : fastest);
  }
  for (std::size_t group = 0; group < stated.groups.size(); ++group) {
    if (stated.groups[group].oversubscription <= 1) continue;
    Uplink uplink{ps_per_kib_at(topology::uplink_rate(stated, static_cast<int>(group))), {}};
    for (const int host : indices)
      uplink.hosts.push_back(host != topology::kNone &&
                             is_in(stated, stated.hosts[at(host)], static_cast<int>(group)));
    const auto inside = std::count(uplink.hosts.begin(), uplink.hosts.end(), true);
    const bool is_left = inside > 0 && inside < static_cast<std::ptrdiff_t>(names.size());
    if (is_left && uplink.ps_per_kib > 0) placement.uplinks.push_back(std::move(uplink));
  }
}

}  // namespace strata
