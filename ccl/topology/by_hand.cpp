// Levels as the user names them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "ccl/base/nearest.hpp"
#include "ccl/topology/candidates.hpp"
#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/rates.hpp"

namespace strata::topology {
namespace {

template <class... A>
Status wrong(fmt::format_string<A...> format, A&&... a) {
  return {ErrorCode::invalid_argument, fmt::format(format, std::forward<A>(a)...)};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The number that the whole text is; -1: it is none.
int number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

NamedPartition numbered(std::size_t index, Partition partition) {
  return {fmt::format("level{}", index + 1), std::move(partition)};
}

// "2x4": factors from the outside in.
Expected<std::vector<NamedPartition>> by_shape(std::string_view levels, int size) {
  const auto factors = split(levels, 'x');
  std::vector<NamedPartition> partitions;
  std::int64_t group_size = 1;
  for (std::size_t i = factors.size(); i-- > 0;) {
    const int factor = number(factors[i]);
    if (factor < 1)
      return wrong("levels '{}': '{}' is no number of groups; write numbers above 0, as in 2x4", levels,
                   factors[i]);
    group_size = std::min<std::int64_t>(group_size * factor, std::int64_t{size} + 1);
    Partition partition(static_cast<std::size_t>(size));
    for (std::size_t rank = 0; rank < partition.size(); ++rank)
      partition[rank] = static_cast<int>(static_cast<std::int64_t>(rank) / group_size);
    partitions.push_back(numbered(partitions.size(), std::move(partition)));
  }
  if (group_size != size)
    return wrong("levels '{}' are for {} ranks, and there are {}; the factors' product must be {}", levels,
                 group_size > size ? "more" : std::to_string(group_size), size, size);
  return partitions;
}

// "numa,host"
Expected<std::vector<NamedPartition>> by_name(std::string_view levels, std::vector<NamedPartition> known) {
  std::vector<std::string_view> names;
  for (const NamedPartition& level : known) names.push_back(level.name);
  const auto wanted = split(levels, ',');
  for (const std::string_view name : wanted)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return wrong("levels '{}': there is no level '{}'; did you mean '{}'? There are: {}", levels, name,
                   nearest(name, names), fmt::join(names, ", "));
  std::vector<NamedPartition> kept;
  for (NamedPartition& level : known)
    if (level.name == kWholeLevel || std::find(wanted.begin(), wanted.end(), level.name) != wanted.end())
      kept.push_back(std::move(level));
  return kept;
}

// One rank or a range of them: "3", "0-3".
Status put(std::string_view range, int group, std::string_view level, Partition& partition) {
  const std::size_t dash = range.find('-');
  const int first = number(range.substr(0, dash));
  const int last = dash == range.npos ? first : number(range.substr(dash + 1));
  if (first < 0 || last < first)
    return wrong("level '{}': '{}' is no rank and no range of ranks; write it as in 0-3 or 0+2", level,
                 range);
  for (int rank = first; rank <= last; ++rank) {
    if (rank >= static_cast<int>(partition.size()))
      return wrong("level '{}' has rank {}, and there are {}; they are numbered 0 to {}", level, last,
                   partition.size(), static_cast<int>(partition.size()) - 1);
    int& place = partition[static_cast<std::size_t>(rank)];
    if (place != kNone) return wrong("level '{}' has rank {} twice; each rank is in one group", level, rank);
    place = group;
  }
  return {};
}

Expected<Partition> groups_of(std::string_view level, int size) {
  Partition partition(static_cast<std::size_t>(size), kNone);
  int group = 0;
  for (const std::string_view text : split(level, ',')) {
    for (const std::string_view range : split(text, '+'))
      if (Status s = put(range, group, level, partition); !s.ok()) return s;
    ++group;
  }
  const auto missing = std::find(partition.begin(), partition.end(), kNone);
  if (missing != partition.end())
    return wrong("level '{}' lacks rank {}; each rank must be in one group, if by itself", level,
                 missing - partition.begin());
  return partition;
}

// "0-3,4-7;0-7"
Expected<std::vector<NamedPartition>> by_groups(std::string_view levels, int size) {
  std::vector<NamedPartition> partitions;
  for (const std::string_view level : split(levels, ';')) {
    auto partition = groups_of(level, size);
    if (!partition) return partition.status();
    if (!partitions.empty()) {
      const Partition& inner = partitions.back().groups;
      if (group_count(meet(inner, *partition)) != group_count(inner))
        return wrong(
            "levels '{}': level '{}' tears a group of the level before it apart; write levels from the "
            "inside out, each with whole groups of the one before",
            levels, level);
    }
    partitions.push_back(numbered(partitions.size(), std::move(*partition)));
  }
  partitions.push_back({std::string(kWholeLevel), Partition(static_cast<std::size_t>(size))});
  return partitions;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Expected<Hierarchy> hierarchy_by_hand(std::string_view levels, std::span<const Place> places,
                                      const Topology& topology) {
  auto known = candidate_levels(places, topology);
  if (!known) return known.status();
  const int size = static_cast<int>(places.size());
  const bool shape =
      std::all_of(levels.begin(), levels.end(), [](char c) { return is_digit(c) || c == 'x'; });
  auto partitions = levels.empty() || !is_digit(levels[0]) ? by_name(levels, std::move(*known))
                    : shape                                ? by_shape(levels, size)
                                                           : by_groups(levels, size);
  if (!partitions) return partitions.status();
  Hierarchy made = nest(std::move(*partitions));
  state_rates(made, *hosts_of(places, topology), topology);
  return made;
}

}  // namespace strata::topology
