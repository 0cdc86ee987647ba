// Shares for links of unequal rates.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace strata {

// An all-reduce of M bytes between n >= 3 ends, each of which sends and receives at its own rate B_i: end i
// sums and spreads a share x_i that everybody sends to it and gets from it directly, so M + (n - 2) x_i bytes
// leave and enter it. The time is least, T = max(M / min B, 2 (n - 1) M / sum B), with
//   x_i = (T B_i - M) / (n - 2);
// where one end is so slow that it decides alone, it sums nothing, and the others' shares keep this ratio.
// Returns the x_i for M = kWholeShare, which is their sum. Empty: n < 3, where shares cannot matter, or rates
// that are as good as equal: equal shares.
inline constexpr std::uint64_t kWholeShare = 1 << 20;
std::vector<std::uint64_t> unequal_shares(std::span<const std::uint64_t> rates);

}  // namespace strata
