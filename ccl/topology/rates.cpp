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

}  // namespace

BitsPerSecond host_rate(const Topology& topology, int host) {
  if (at(topology, host).machine == kNone) return 0;
  BitsPerSecond sum = 0;
  for (const Nic& nic : topology.machines[static_cast<std::size_t>(at(topology, host).machine)].nics) {
    if (nic.rate == 0) return 0;
    sum += nic.rate;
  }
  return sum;
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
