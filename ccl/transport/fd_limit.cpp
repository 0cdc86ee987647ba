#include "ccl/transport/fd_limit.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>

#include "ccl/base/errno_status.hpp"

namespace strata {

Status open_failed(std::string_view call, std::string_view object, std::size_t descriptors_needed) {
  const int reason = errno;
  const Status plain = errno_status(call, object);
  if (reason != EMFILE) return plain;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return {plain.code(),
          fmt::format(
              "{}; this process may have {} files open, and this transport alone needs about {}: raise the "
              "limit with 'ulimit -n' (the system allows {})",
              plain.message(), limit.rlim_cur, descriptors_needed, limit.rlim_max)};
}

}  // namespace strata
