// What a rank publishes so that others of its host find its shared memory.
#pragma once
#include <string>
#include <string_view>

#include "strata/status.hpp"

namespace strata::shm {

struct ShmDescriptor {
  std::string host_id;  // Host::id
  std::string user;     // user id and user namespace: memory is shared with oneself only
  std::string socket;   // abstract name of the socket that passes descriptors
};

std::string current_user();
std::string to_text(const ShmDescriptor& descriptor);
Expected<ShmDescriptor> parse_shm_descriptor(std::string_view text);

}  // namespace strata::shm
