#include "ccl/algorithms/unequal.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace strata {
namespace {

constexpr std::uint64_t kAlikePercent = 5;     // less than that is within what a rate is known by
constexpr std::uint64_t kRateUnits = 1 << 16;  // of the highest, so that products stay in 64 bits

}  // namespace

std::vector<std::uint64_t> unequal_shares(std::span<const std::uint64_t> rates) {
  const std::uint64_t n = rates.size();
  if (n < 3) return {};
  const auto [lowest, highest] = std::minmax_element(rates.begin(), rates.end());
  const std::uint64_t unit = std::max<std::uint64_t>(1, *highest / kRateUnits);
  if (*lowest / unit * 100 > *highest / unit * (100 - kAlikePercent)) return {};
  std::uint64_t sum = 0;
  for (const std::uint64_t rate : rates) sum += rate / unit;
  const std::uint64_t slowest = std::max<std::uint64_t>(1, *lowest / unit);
  // T B_i - M, times the denominator of T. Whole numbers: all ranks get the same.
  const bool one_decides = sum > 2 * (n - 1) * slowest;
  const std::uint64_t numerator = one_decides ? 1 : 2 * (n - 1), denominator = one_decides ? slowest : sum;
  std::vector<std::uint64_t> shares;
  for (const std::uint64_t rate : rates) {
    const std::uint64_t sent = numerator * std::max<std::uint64_t>(1, rate / unit);
    shares.push_back(sent > denominator ? sent - denominator : 0);
  }
  const std::uint64_t all = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
  std::uint64_t before = 0, cut = 0;
  for (std::uint64_t& share : shares) {
    before += share;
    const std::uint64_t next = before * kWholeShare / all;
    share = next - std::exchange(cut, next);
  }
  return shares;
}

}  // namespace strata
