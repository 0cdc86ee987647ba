#include "tools/strata_run/sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace strata::run {

// The stream is shared with other processes, so it is not made non-blocking; a stream that poll calls
// writable takes PIPE_BUF bytes.
bool Sink::write_some(int timeout_ms) {
  if (!waiting()) return false;
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, timeout_ms) <= 0) return false;
  const ssize_t n = ::write(fd_, buffer_.data(), std::min<std::size_t>(buffer_.size(), PIPE_BUF));
  if (n < 0 && errno != EINTR && errno != EAGAIN) {
    broken_ = true;
    buffer_.clear();
  }
  if (n > 0) buffer_.erase(0, static_cast<std::size_t>(n));
  return n > 0;
}

void Sink::write() {
  while (write_some(0)) continue;
}

void Sink::write_all() {
  while (waiting()) write_some(-1);
}

}  // namespace strata::run
