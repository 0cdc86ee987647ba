#include "tools/strata_topo/levels_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/position.hpp"
#include "ccl/topology/quantity.hpp"
#include "ccl/topology/rates.hpp"

namespace strata::topo {
namespace {

using namespace topology;

constexpr std::size_t kIndent = 32;

std::string plural(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// "4", or "3-4" where groups differ.
std::string sizes(const Level& level) {
  std::size_t least = level.groups[0].size(), most = least;
  for (const auto& group : level.groups) {
    least = std::min(least, group.size());
    most = std::max(most, group.size());
  }
  return least == most ? std::to_string(most) : fmt::format("{}-{}", least, most);
}

// Words after a heading, continued below it; after some lines the rest is only counted.
std::string with_words(const std::string& heading, const std::vector<std::string>& words,
                       std::string_view separator, int width) {
  constexpr int kLinesMax = 4;
  const std::string indent(heading.size(), ' ');
  std::string text, line = heading;
  int lines = 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? std::string(separator) : "");
    if (line.size() > heading.size() && line.size() + word.size() > static_cast<std::size_t>(width)) {
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      if (++lines > kLinesMax) return text + fmt::format("{}.. and {} more\n", indent, words.size() - i);
      line = indent;
    }
    line += word + " ";
  }
  return text + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream rest(list);
  for (std::string word; std::getline(rest, word, ',');) words.push_back(word);
  return words;
}

std::string costs_of(const Level& level, const Topology& topology) {
  std::string text;
  for (const PairCost& cost : topology.costs)
    if (cost.level == level.name)
      text += fmt::format("{:{}}over {}: {:.3g} us, {}\n", "", kIndent, cost.medium,
                          static_cast<double>(cost.latency_ps) / 1e6, rounded_rate(cost.rate));
  return text;
}

int host_of(const Place& place, const Topology& topology) {
  const auto host = std::find_if(topology.hosts.begin(), topology.hosts.end(),
                                 [&](const Host& h) { return h.name == place.host; });
  return host == topology.hosts.end() ? kNone : static_cast<int>(host - topology.hosts.begin());
}

// Between hosts that are together from this level on: the lowest rate that the topology states. 0: there are
// none, or it is not known. inner: the level before; nullptr: there is none.
BitsPerSecond stated_rate(const Level& level, const Level* inner, std::span<const Place> places,
                          const Topology& topology) {
  std::vector<bool> first(places.size(), inner == nullptr);
  if (inner != nullptr)
    for (const auto& group : inner->groups) first[static_cast<std::size_t>(group[0])] = true;
  BitsPerSecond lowest = 0;
  for (const auto& group : level.groups)
    for (const Rank rank : group) {
      const int a = host_of(places[static_cast<std::size_t>(group[0])], topology);
      const int b = host_of(places[static_cast<std::size_t>(rank)], topology);
      if (!first[static_cast<std::size_t>(rank)] || a == b) continue;
      const BitsPerSecond rate = rate_between(topology, a, b);
      if (rate == 0) return 0;
      lowest = lowest == 0 ? rate : std::min(lowest, rate);
    }
  return lowest;
}

std::string_view describe(Nearness nearness) {
  switch (nearness) {
    case Nearness::pcie_switch: return "the same PCIe switch";
    case Nearness::numa: return "the same NUMA node";
    case Nearness::package: return "the same package";
    case Nearness::machine: return "the same host";
  }
  return "";
}

const Machine* machine_of(const Place& place, const Topology& topology) {
  const int host = host_of(place, topology);
  const int machine = host == kNone ? kNone : topology.hosts[static_cast<std::size_t>(host)].machine;
  return machine == kNone ? nullptr : &topology.machines[static_cast<std::size_t>(machine)];
}

}  // namespace

std::string describe_levels(const Hierarchy& hierarchy, std::span<const Place> places,
                            const Topology& topology, int width) {
  std::string text = fmt::format("{} at {}\n", plural(static_cast<std::size_t>(hierarchy.size), "rank"),
                                 plural(hierarchy.levels.size(), "level"));
  if (!hierarchy.levels.empty())
    text += fmt::format("\n  {:<14} {:>6}  {:<6} ranks\n", "level", "groups", "of");
  const Level* inner = nullptr;
  for (const Level& level : hierarchy.levels) {
    std::vector<std::string> groups;
    for (const auto& group : level.groups) groups.push_back(format_cpu_list(group));
    text += with_words(fmt::format("  {:<14} {:>6}  {:<6} ", level.name, level.groups.size(), sizes(level)),
                       groups, " |", width);
    text += costs_of(level, topology);
    if (const BitsPerSecond rate = stated_rate(level, inner, places, topology); rate > 0)
      text += fmt::format("{:{}}{} a host, if all send\n", "", kIndent, rounded_rate(rate));
    inner = &level;
  }
  return text;
}

std::string describe_near_nics(std::span<const Place> places, const Topology& topology, int width) {
  std::map<std::pair<std::string, std::string>, std::vector<int>> ranks;  // by the cards, how near
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const Machine* machine = machine_of(places[rank], topology);
    const NearNics near = machine == nullptr ? NearNics{} : nics_near(*machine, places[rank]);
    std::string names;
    for (const int nic : near.nics)
      names += (names.empty() ? "" : ", ") + machine->nics[static_cast<std::size_t>(nic)].name;
    if (!names.empty())
      ranks[{std::string(describe(near.nearness)), names}].push_back(static_cast<int>(rank));
  }
  std::string text = ranks.empty() ? "" : "\n  nearest cards          at                    of ranks\n";
  for (const auto& [key, list] : ranks)
    text += with_words(fmt::format("  {:<22} {:<21} ", key.second, key.first),
                       split_at_commas(format_cpu_list(list)), ",", width);
  return text;
}

}  // namespace strata::topo
