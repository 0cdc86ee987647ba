#include "ccl/base/errno_status.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace strata {

Status errno_status(std::string_view call, std::string_view object) {
  const int reason = errno;
  const ErrorCode code = reason == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::unavailable;
  return {code, fmt::format("{}({}): {} (errno {})", call, object, std::generic_category().message(reason),
                            reason)};
}

}  // namespace strata
