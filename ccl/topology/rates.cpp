#include "ccl/topology/rates.hpp"

#include <algorithm>
#include <vector>

#include "ccl/base/check.hpp"

namespace strata::topology {
namespace {

const Host& at(const Topology& topology, int host) { return topology.hosts[static_cast<std::size_t>(host)]; }

// From the innermost outwards.
std::vector<int> groups_around(const Topology& topology, int host) {
  std::vector<int> groups;
  for (int group = at(topology, host).group; group != kNone;
       group = topology.groups[static_cast<std::size_t>(group)].parent)
    groups.push_back(group);
  return groups;
}

// By how much the way out of those of the groups that the other host is not in is oversubscribed.
double oversubscription(const Topology& topology, const std::vector<int>& groups,
                        const std::vector<int>& others) {
  double product = 1;
  for (const int group : groups)
    if (std::find(others.begin(), others.end(), group) == others.end())
      product *= topology.groups[static_cast<std::size_t>(group)].oversubscription;
  return product;
}

using Hosts = std::vector<int>;  // ascending

Hosts hosts_in(const std::vector<Rank>& ranks, const std::vector<int>& host_of) {
  Hosts hosts;
  for (const Rank rank : ranks) hosts.push_back(host_of[static_cast<std::size_t>(rank)]);
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

// What these hosts get of the way to the others; 0: not known.
BitsPerSecond rate_out(const Hosts& hosts, const Hosts& others, const Topology& topology) {
  std::vector<int> around_others;
  for (const int host : others)
    for (const int group : groups_around(topology, host)) around_others.push_back(group);
  double sum = 0;
  for (const int host : hosts) {
    const BitsPerSecond rate = host_rate(topology, host);
    if (rate == 0) return 0;
    sum +=
        static_cast<double>(rate) / oversubscription(topology, groups_around(topology, host), around_others);
  }
  return static_cast<BitsPerSecond>(sum);
}

// Of the members of one group of a level, in order; empty: not known, or hosts are not apart from each other.
std::vector<BitsPerSecond> rates_of(const std::vector<Hosts>& members, const Topology& topology) {
  std::vector<BitsPerSecond> rates;
  for (const Hosts& hosts : members) {
    Hosts others;
    for (const Hosts& other : members)
      if (&other != &hosts) others.insert(others.end(), other.begin(), other.end());
    const bool apart = std::none_of(hosts.begin(), hosts.end(), [&](int host) {
      return std::find(others.begin(), others.end(), host) != others.end();
    });
    const BitsPerSecond rate = apart ? rate_out(hosts, others, topology) : 0;
    if (rate == 0) return {};
    rates.push_back(rate);
  }
  return rates;
}

}  // namespace

void state_rates(Hierarchy& hierarchy, const std::vector<int>& host_of, const Topology& topology) {
  std::vector<std::vector<Rank>> members;  // the groups of the level before
  for (Rank rank = 0; rank < hierarchy.size; ++rank) members.push_back({rank});
  for (Level& level : hierarchy.levels) {
    std::vector<BitsPerSecond> rates(members.size(), 0);
    bool known = true;
    for (const std::vector<Rank>& group : level.groups) {
      std::vector<std::size_t> inside;
      std::vector<Hosts> hosts;
      for (std::size_t i = 0; i < members.size(); ++i)
        if (std::binary_search(group.begin(), group.end(), members[i].front())) {
          inside.push_back(i);
          hosts.push_back(hosts_in(members[i], host_of));
        }
      const std::vector<BitsPerSecond> found = rates_of(hosts, topology);
      known = known && !found.empty();
      for (std::size_t k = 0; k < found.size(); ++k) rates[inside[k]] = found[k];
    }
    const bool alike = std::adjacent_find(rates.begin(), rates.end(), std::not_equal_to<>()) == rates.end();
    if (known && !alike) level.rates = std::move(rates);
    members = level.groups;
  }
}

BitsPerSecond host_rate(const Topology& topology, int host) {
  if (at(topology, host).machine == kNone) return 0;
  BitsPerSecond sum = 0;
  for (const Nic& nic : topology.machines[static_cast<std::size_t>(at(topology, host).machine)].nics) {
    if (nic.rate == 0) return 0;
    sum += nic.rate;
  }
  return sum;
}

BitsPerSecond uplink_rate(const Topology& topology, int group) {
  BitsPerSecond sum = 0;
  for (std::size_t i = 0; i < topology.hosts.size(); ++i) {
    if (topology.hosts[i].group != group) continue;
    const BitsPerSecond rate = host_rate(topology, static_cast<int>(i));
    if (rate == 0) return 0;
    sum += rate;
  }
  for (std::size_t i = 0; i < topology.groups.size(); ++i) {
    if (topology.groups[i].parent != group) continue;
    const BitsPerSecond rate = uplink_rate(topology, static_cast<int>(i));
    if (rate == 0) return 0;
    sum += rate;
  }
  return static_cast<BitsPerSecond>(static_cast<double>(sum) /
                                    topology.groups[static_cast<std::size_t>(group)].oversubscription);
}

BitsPerSecond rate_between(const Topology& topology, int a, int b) {
  STRATA_CHECK(a != b, a, b);
  const auto around_a = groups_around(topology, a), around_b = groups_around(topology, b);
  const auto share = [&](int host, const std::vector<int>& own, const std::vector<int>& others) {
    return static_cast<double>(host_rate(topology, host)) / oversubscription(topology, own, others);
  };
  return static_cast<BitsPerSecond>(std::min(share(a, around_a, around_b), share(b, around_b, around_a)));
}

}  // namespace strata::topology
