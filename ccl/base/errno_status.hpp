// Turns a failed system call into a Status that names the call, its object and the system's reason.
#pragma once
#include <string_view>

#include "strata/status.hpp"

namespace strata {

// Reads errno. Code: out_of_memory for ENOMEM, unavailable otherwise.
Status errno_status(std::string_view call, std::string_view object);

}  // namespace strata
