// Failed calls that open a descriptor: the message says what the limit is and what is needed.
#pragma once
#include <cstddef>
#include <string_view>

#include "strata/status.hpp"

namespace strata {

// Reads errno. As errno_status, and when there are too many open files it names the limit, the need and the
// cure.
Status open_failed(std::string_view call, std::string_view object, std::size_t descriptors_needed);

}  // namespace strata
