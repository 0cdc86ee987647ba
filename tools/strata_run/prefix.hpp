// What stands before a rank's lines.
#pragma once
#include <string>

#include "ccl/base/environment.hpp"

namespace strata::run {

// "[ 3] ", as wide for all ranks up to the last.
std::string prefix_of(int rank, int last_rank, bool coloured);

// Is it a terminal whose user wants colours (https://no-color.org)?
bool is_coloured(int fd, const Environment& environment);

}  // namespace strata::run
