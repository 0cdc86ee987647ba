// Sets of CPUs as text: "0-3,8".
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"

namespace strata::topology {

inline constexpr int kCpusMax = 1 << 14;  // of one machine

// Ascending, each once. Empty text is the empty set. Error: invalid_argument that names the part that is
// wrong.
Expected<std::vector<int>> parse_cpu_list(std::string_view text);

// cpus: ascending.
std::string format_cpu_list(std::span<const int> cpus);

}  // namespace strata::topology
