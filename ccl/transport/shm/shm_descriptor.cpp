#include "ccl/transport/shm/shm_descriptor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ccl/transport/descriptor_fields.hpp"

namespace strata::shm {
namespace {

constexpr std::string_view kVersion = "shm1";

}  // namespace

std::string current_user() {
  std::array<char, 64> space{};
  const ssize_t length = std::max<ssize_t>(0, ::readlink("/proc/self/ns/user", space.data(), space.size()));
  return fmt::format("{}/{}", ::geteuid(), std::string_view(space.data(), static_cast<std::size_t>(length)));
}

std::string to_text(const ShmDescriptor& descriptor) {
  return join_fields(
      std::array{std::string(kVersion), descriptor.host_id, descriptor.user, descriptor.socket});
}

Expected<ShmDescriptor> parse_shm_descriptor(std::string_view text) {
  const std::vector<std::string> fields = split_fields(text);
  if (fields.size() != 4 || fields[0] != kVersion || fields[3].empty())
    return Status(
        ErrorCode::mismatch,
        fmt::format("'{}' is no descriptor of the shared memory transport {}; do all ranks run the same "
                    "version of Strata?",
                    text, kVersion));
  return ShmDescriptor{fields[1], fields[2], fields[3]};
}

}  // namespace strata::shm
