#include "ccl/bootstrap/rendezvous_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include "ccl/bootstrap/rendezvous_messages.hpp"

namespace strata::rendezvous {
namespace {

constexpr rlim_t kOtherDescriptors = 32;  // what a small process has open besides

}  // namespace

Status check_descriptor_limit(int ranks) {
  rlimit limit{};
  const rlim_t need = static_cast<rlim_t>(ranks) + kOtherDescriptors;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return {};
  return {ErrorCode::unavailable, fmt::format("rank 0 may open {} files, and a rendezvous of {} ranks needs "
                                              "{}; raise the limit with ulimit -n {}",
                                              limit.rlim_cur, ranks, need, need)};
}

Status check_contribution(std::string_view bytes) {
  if (bytes.size() <= kContributionBytesMax) return {};
  return {ErrorCode::invalid_argument,
          fmt::format("a rank may exchange at most {} bytes at once, and here are {}", kContributionBytesMax,
                      bytes.size())};
}

}  // namespace strata::rendezvous
