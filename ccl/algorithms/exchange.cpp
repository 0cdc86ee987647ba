#include "ccl/algorithms/exchange.hpp"

#include <algorithm>

#include "ccl/algorithms/fragments.hpp"

namespace strata {
namespace {

constexpr int kSumsInFlight = 4;  // of direct exchanges: the segments that are summed at once

std::size_t most_shares(const Exchange& exchange) {
  std::size_t most = 0;
  for (const auto& shares : exchange.shares) most = std::max(most, shares.size());
  return most;
}

// Each rank's k-th share; none: an empty slice.
std::vector<Slice> kth(const Exchange& exchange, std::size_t k, const Where& where) {
  std::vector<Slice> slices;
  for (const auto& shares : exchange.shares) slices.push_back(k < shares.size() ? where(shares[k]) : Slice{});
  return slices;
}

}  // namespace

// Segments are nearly equally long and the first are the longest, so this is seldom made anew.
Slots& Exchanger::sums_of(const Group& group, std::uint64_t longest) {
  const auto known = sums_.find(group.ranks);
  if (known != sums_.end() && known->second.longest >= longest) return known->second.slots;
  Slots slots(writer_.program(), static_cast<std::uint64_t>(group.size() - 1) * longest, kSumsInFlight);
  return sums_.insert_or_assign(group.ranks, Sums{longest, std::move(slots)}).first->second.slots;
}

void Exchanger::reduce_scatter(const Exchange& exchange, const Where& from, const Where& passing,
                               const Where& mine, bool last) {
  const Group& group = exchange.group;
  const auto me = static_cast<std::size_t>(group.me);
  for (std::size_t k = 0; k < most_shares(exchange); ++k) {
    const std::vector<Slice> addends = kth(exchange, k, from);
    const Slice own = k < exchange.shares[me].size() ? mine(exchange.shares[me][k]) : Slice{};
    if (pattern_of(exchange) == Pattern::direct) {
      direct_reduce_scatter(writer_, group, addends, own, sums_of(group, writer_.piece_bytes_max(own.length)),
                            last && writer_.finishes());
      continue;
    }
    std::vector<Slice> sums = kth(exchange, k, passing);
    if (pattern_of(exchange) == Pattern::pat) {
      pat_reduce_scatter(writer_, group, addends, sums, own, Lie::apart);
    } else {
      sums[me] = own;
      ring_reduce_scatter(writer_, group, addends, sums);
    }
    if (last) writer_.finish(own);
  }
}

void Exchanger::all_gather(const Exchange& exchange, const Where& data) {
  for (std::size_t k = 0; k < most_shares(exchange); ++k) {
    const std::vector<Slice> chunks = kth(exchange, k, data);
    switch (pattern_of(exchange)) {
      case Pattern::ring: ring_all_gather(writer_, exchange.group, chunks); break;
      case Pattern::pat: pat_all_gather(writer_, exchange.group, chunks, Lie::apart); break;
      case Pattern::direct: direct_all_gather(writer_, exchange.group, chunks); break;
    }
  }
}

}  // namespace strata
