#include "ccl/topology/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ccl/base/nearest.hpp"
#include "ccl/topology/position.hpp"

namespace strata::topology {
namespace {

Status unknown_host(Rank rank, const std::string& name, const Topology& topology) {
  std::vector<std::string_view> names;
  for (const Host& host : topology.hosts) names.push_back(host.name);
  return {
      ErrorCode::invalid_argument,
      fmt::format(
          "rank {} is on host '{}', which the topology does not have; {}add the host to the topology's file",
          rank, name,
          names.empty() ? "" : fmt::format("did you mean '{}'? Otherwise ", nearest(name, names)))};
}

Status check_slots(const std::vector<int>& hosts, const Topology& topology) {
  std::vector<int> ranks(topology.hosts.size());
  for (const int host : hosts) ++ranks[static_cast<std::size_t>(host)];
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Host& host = topology.hosts[i];
    if (host.slots > 0 && ranks[i] > host.slots)
      return {
          ErrorCode::invalid_argument,
          fmt::format("host '{}' has {} ranks and slots for {}; start fewer there, or raise its slots in the "
                      "topology's file",
                      host.name, ranks[i], host.slots)};
  }
  return {};
}

const Machine& machine_of(const Host& host, const Topology& topology) {
  static const Machine unknown;
  return host.machine == kNone ? unknown : topology.machines[static_cast<std::size_t>(host.machine)];
}

Status check_gpu(Rank rank, const Place& place, const Machine& machine) {
  const int gpus = static_cast<int>(machine.gpus.size());
  if (place.gpu == kNone || (place.gpu >= 0 && place.gpu < gpus)) return {};
  return {ErrorCode::invalid_argument,
          fmt::format("rank {} has GPU {} of host '{}', which has {}; {}", rank, place.gpu, place.host,
                      gpus == 0 ? "none" : std::to_string(gpus),
                      gpus == 0 ? "leave the GPU out" : fmt::format("they are numbered 0 to {}", gpus - 1))};
}

// By the mean size of their groups: which level contains which depends on the machine.
void sort_by_size(std::vector<NamedPartition>& levels) {
  const auto size = [](const NamedPartition& level) {
    const auto ranks =
        std::count_if(level.groups.begin(), level.groups.end(), [](int g) { return g != kNone; });
    return std::pair<std::int64_t, std::int64_t>(ranks, group_count(level.groups));
  };
  std::stable_sort(levels.begin(), levels.end(), [&](const NamedPartition& a, const NamedPartition& b) {
    const auto [ranks_a, groups_a] = size(a);
    const auto [ranks_b, groups_b] = size(b);
    return ranks_a * groups_b < ranks_b * groups_a;
  });
}

// The group of this level that the host is in.
int group_at(const Topology& topology, const Host& host, int level) {
  for (int group = host.group; group != kNone;) {
    const Group& g = topology.groups[static_cast<std::size_t>(group)];
    if (g.level == level) return group;
    group = g.parent;
  }
  return kNone;
}

}  // namespace

Expected<std::vector<int>> hosts_of(std::span<const Place> places, const Topology& topology) {
  std::unordered_map<std::string_view, int> numbers;
  for (std::size_t i = 0; i < topology.hosts.size(); ++i)
    numbers.try_emplace(topology.hosts[i].name, static_cast<int>(i));
  std::vector<int> hosts;
  for (const Place& place : places) {
    const auto host = numbers.find(place.host);
    if (host == numbers.end()) return unknown_host(static_cast<Rank>(hosts.size()), place.host, topology);
    hosts.push_back(host->second);
  }
  return hosts;
}

Expected<std::vector<NamedPartition>> candidate_levels(std::span<const Place> places,
                                                       const Topology& topology) {
  const auto hosts = hosts_of(places, topology);
  if (!hosts) return hosts.status();
  if (Status s = check_slots(*hosts, topology); !s.ok()) return s;
  const auto host = [&](std::size_t rank) -> const Host& {
    return topology.hosts[static_cast<std::size_t>((*hosts)[rank])];
  };
  std::vector<NamedPartition> levels;
  for (const std::string_view name : kHostLevels) levels.push_back({std::string(name), *hosts});
  levels.pop_back();
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const Machine& machine = machine_of(host(rank), topology);
    if (Status s = check_gpu(static_cast<Rank>(rank), places[rank], machine); !s.ok()) return s;
    const Position position = position_of(machine, places[rank]);
    for (std::size_t i = 0; i < position.size(); ++i) levels[i].groups[rank] = position[i];
  }
  for (NamedPartition& level : levels) level.groups = meet(level.groups, *hosts);
  std::erase_if(levels, [](const NamedPartition& level) { return group_count(level.groups) == 0; });
  sort_by_size(levels);
  levels.push_back({std::string(kHostLevels[std::size(kHostLevels) - 1]), *hosts});
  for (std::size_t i = 0; i < topology.levels.size(); ++i) {
    levels.push_back({topology.levels[i], Partition(places.size())});
    for (std::size_t rank = 0; rank < places.size(); ++rank)
      levels.back().groups[rank] = group_at(topology, host(rank), static_cast<int>(i));
  }
  levels.push_back({std::string(kWholeLevel), Partition(places.size())});
  return levels;
}

}  // namespace strata::topology
