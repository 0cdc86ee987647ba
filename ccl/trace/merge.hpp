// A timeline from the parts that the ranks of a host have left, when rank 0 could not gather them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata::trace {

// Writes `trace` from the parts of these ranks that were made since then, and removes them. Says which ranks
// have one; of none, or when rank 0 has written it after all, nothing is written. since_ns: after 1970.
Expected<std::vector<Rank>> merge_parts(const std::string& trace, std::span<const Rank> ranks,
                                        std::uint64_t since_ns, std::span<const std::string_view> algorithms);

}  // namespace strata::trace
