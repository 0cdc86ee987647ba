// Shares of data, level by level.
#include "ccl/algorithms/ownership.hpp"

#include <algorithm>

#include "ccl/algorithms/unequal.hpp"
#include "ccl/base/check.hpp"

namespace strata {
namespace {

bool contains(const std::vector<Rank>& ascending, Rank rank) {
  return std::binary_search(ascending.begin(), ascending.end(), rank);
}

// Of the groups of the level before, or the ranks alone, that are within these ranks.
std::vector<std::uint64_t> rates_within(const std::vector<topology::Level>& levels, std::size_t level,
                                        const std::vector<Rank>& ranks) {
  const std::vector<topology::BitsPerSecond>& rates = levels[level].rates;
  std::vector<std::uint64_t> within;
  for (std::size_t i = 0; i < rates.size(); ++i)
    if (contains(ranks, level == 0 ? static_cast<Rank>(i) : levels[level - 1].groups[i].front()))
      within.push_back(static_cast<std::uint64_t>(rates[i]));
  return within;
}

// These ranks, which are a group of the level, as one nest.
Nest nest_within(const std::vector<topology::Level>& levels, std::size_t level,
                 const std::vector<Rank>& ranks) {
  Nest nest{ranks, {}, {}};
  if (ranks.size() == 1) return nest;
  if (level == 0) {
    for (const Rank rank : ranks) nest.inner.push_back({{rank}, {}, {}});
  } else {
    for (const std::vector<Rank>& group : levels[level - 1].groups)
      if (contains(ranks, group.front())) nest.inner.push_back(nest_within(levels, level - 1, group));
  }
  if (nest.inner.size() == 1) return std::move(nest.inner.front());
  if (level < levels.size() && !levels[level].rates.empty())
    nest.shares = unequal_shares(rates_within(levels, level, ranks));
  return nest;
}

void add(Holdings& holdings, std::uint64_t begin, std::uint64_t end, Rank owner) {
  if (begin < end) holdings.push_back({{begin, end}, owner});
}

// Where each inner group's share begins, and where the last one ends.
std::vector<std::uint64_t> shares_begin(const Interval& i, const Nest& nest) {
  const std::uint64_t length = i.end - i.begin, count = nest.inner.size();
  std::vector<std::uint64_t> begins{i.begin};
  if (nest.shares.empty()) {
    for (std::uint64_t k = 0; k < count; ++k)
      begins.push_back(begins.back() + length / count + (k < length % count));
    return begins;
  }
  std::uint64_t before = 0;
  for (const std::uint64_t share : nest.shares) {
    before += share;
    // length * before / kWholeShare, which 64 bits may not hold
    begins.push_back(i.begin + length / kWholeShare * before + length % kWholeShare * before / kWholeShare);
  }
  return begins;
}

// What is the owner's, seen from a group of `to.size()` ranks: the ranks there that sit where it sits among
// its own, one or several.
void hand_over(Holdings& holdings, const Interval& interval, std::size_t owner, std::size_t of,
               const std::vector<Rank>& to) {
  const std::uint64_t length = interval.end - interval.begin, n = to.size();
  const auto position = [&](std::uint64_t units) {
    return interval.begin + length * (units - owner * n) / n;
  };
  // In units of one part in (of * n) of a group.
  for (std::uint64_t t = owner * n / of; t < n && t * of < (owner + 1) * n; ++t)
    add(holdings, position(std::max<std::uint64_t>(owner * n, t * of)),
        position(std::min<std::uint64_t>((owner + 1) * n, (t + 1) * of)), to[t]);
}

}  // namespace

std::size_t Nest::index_of(Rank rank) const {
  for (std::size_t i = 0; i < inner.size(); ++i)
    if (contains(inner[i].ranks, rank)) return i;
  STRATA_CHECK(false, rank);
  return 0;
}

Nest nest_of(const Group& group) {
  STRATA_CHECK(group.hierarchy != nullptr && group.hierarchy->size == group.size(), group.size());
  std::vector<Rank> all(group.ranks.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Rank>(i);
  return nest_within(group.hierarchy->levels, group.hierarchy->levels.size(), all);
}

std::vector<Cut> cut(std::span<const Holdings> all) {
  std::vector<Cut> cuts;
  std::vector<std::size_t> at(all.size(), 0);
  while (!all.empty() && at[0] < all[0].size()) {
    Cut next;
    next.interval = {cuts.empty() ? all[0][0].interval.begin
                                  : std::max(cuts.back().interval.end, all[0][at[0]].interval.begin),
                     all[0][at[0]].interval.end};
    for (std::size_t i = 0; i < all.size(); ++i) {
      STRATA_CHECK(at[i] < all[i].size() && all[i][at[i]].interval.begin <= next.interval.begin, i, at[i]);
      next.interval.end = std::min(next.interval.end, all[i][at[i]].interval.end);
      next.owners.push_back(all[i][at[i]].owner);
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i][at[i]].interval.end == next.interval.end) ++at[i];
    cuts.push_back(std::move(next));
  }
  return cuts;
}

Holdings share_out(const Nest& nest, Interval data) {
  Holdings shares;
  if (nest.inner.empty()) {
    add(shares, data.begin, data.end, nest.ranks.front());
    return shares;
  }
  std::vector<Holdings> inner;
  for (const Nest& group : nest.inner) inner.push_back(share_out(group, data));
  for (const Cut& c : cut(inner)) {
    const std::vector<std::uint64_t> begins = shares_begin(c.interval, nest);
    for (std::size_t i = 0; i < inner.size(); ++i) add(shares, begins[i], begins[i + 1], c.owners[i]);
  }
  return shares;
}

Holdings hand_down(const Holdings& given, const Nest& outer, std::size_t inner) {
  const std::vector<Rank>& to = outer.inner[inner].ranks;
  Holdings held;
  for (const Holding& h : given) {
    const std::size_t home = outer.index_of(h.owner);
    if (home == inner) {
      held.push_back(h);
      continue;
    }
    const std::vector<Rank>& from = outer.inner[home].ranks;
    const auto owner = std::lower_bound(from.begin(), from.end(), h.owner) - from.begin();
    hand_over(held, h.interval, static_cast<std::size_t>(owner), from.size(), to);
  }
  return held;
}

std::vector<Exchange> exchanges(std::span<const Holdings> inner, const Holdings& outer, std::size_t index,
                                Rank me) {
  std::vector<Holdings> all(inner.begin(), inner.end());
  all.push_back(outer);
  std::vector<Exchange> found;
  for (Cut& c : cut(all)) {
    const Rank owner = c.owners.back();
    c.owners.pop_back();
    if (c.owners[index] != me) continue;
    auto exchange = std::find_if(found.begin(), found.end(),
                                 [&](const Exchange& e) { return e.group.ranks == c.owners; });
    if (exchange == found.end()) {
      found.push_back({{c.owners, static_cast<int>(index), nullptr}, {}});
      exchange = std::prev(found.end());
      exchange->shares.resize(inner.size());
    }
    const auto share = std::find(c.owners.begin(), c.owners.end(), owner) - c.owners.begin();
    STRATA_CHECK(static_cast<std::size_t>(share) < inner.size(), owner, me);
    exchange->shares[static_cast<std::size_t>(share)].push_back(c.interval);
  }
  return found;
}

}  // namespace strata
