#include "ccl/shm/doorbell.hpp"

#include <unistd.h>

#include <cstdint>

namespace strata::shm {

void Doorbell::ring() const {
  if (sleeping->exchange(0, std::memory_order_acq_rel) == 0) return;
  const std::uint64_t one = 1;
  // Can only fail when the count would overflow, and then it is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(event_fd, &one, sizeof one);
}

}  // namespace strata::shm
