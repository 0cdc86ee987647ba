// Many names in one: "node[00-15]".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"

namespace strata::topology {

inline constexpr std::size_t kHostsMax = 1 << 16;

// One pair of brackets with numbers and ranges, "a[0-3,7]b"; numbers have at least as many digits as the
// first of their range. Without brackets: the name itself. Error: invalid_argument that names the part that
// is wrong.
Expected<std::vector<std::string>> expand_names(std::string_view pattern);

}  // namespace strata::topology
