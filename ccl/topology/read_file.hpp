// A whole file as text.
#pragma once
#include <cstdint>
#include <string>

#include "strata/status.hpp"

namespace strata::topology {

inline constexpr std::uintmax_t kFileBytesMax = 64 << 20;

// Errors: unavailable, with the path, and why it cannot be read; larger files than kFileBytesMax are no
// topologies.
Expected<std::string> read_file(const std::string& path);

}  // namespace strata::topology
