// Sizes as people write them: 32M, 1.5K, 64. K, M and G are powers of 1024.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::perf {

// Bytes, or nothing if the text is not such a size or exceeds 2^62. Fractions are rounded down to bytes.
std::optional<std::uint64_t> parse_byte_size(std::string_view text);

// The shortest exact form: "32M", "1536", "64K".
std::string format_byte_size(std::uint64_t bytes);

}  // namespace strata::perf
