#include "ccl/transport/tcp/in_flight.hpp"

// The kernel's own header for tcp_info: that of the C library lacks the newer fields, and each excludes the
// other.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "ccl/base/log.hpp"

namespace strata::tcp {
namespace {

#ifndef SO_BUF_LOCK  // Linux 5.14
constexpr int SO_BUF_LOCK = 72;
#endif
// The limit is looked at each time that so many credits have gone: then the round trips that the kernel has
// averaged are of the present one.
constexpr std::size_t kCreditsPerUpdate = 4;

std::size_t unacknowledged(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

PathView view_path(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  const std::size_t unsent = info.tcpi_notsent_bytes, all = unacknowledged(socket);
  return {all > unsent ? all - unsent : 0, info.tcpi_rtt, info.tcpi_min_rtt};
}

// Has the kernel call the socket writable when less than two thirds of so many bytes are not acknowledged (it
// sets twice what SO_SNDBUF says, and counts its own cost of packets too). It takes no more than
// net.core.wmem_max allows; where that is too little, its own tuning takes over if it can. Returns the limit,
// or `none`.
std::size_t limit_unacknowledged(int socket, std::size_t bytes, std::size_t none) {
  int value = static_cast<int>(bytes / 2);
  socklen_t length = sizeof value;
  if (::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &value, length) != 0 ||
      ::getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &value, &length) != 0)
    return none;
  const auto taken = static_cast<std::size_t>(value);
  if (taken + 1 >= bytes) return bytes;
  const int unlock = 0;
  return ::setsockopt(socket, SOL_SOCKET, SO_BUF_LOCK, &unlock, sizeof unlock) == 0 ? none : taken;
}

}  // namespace

InFlight::InFlight(int socket, std::string_view name, const CreditPins* pins)
    : socket_(socket),
      name_(name),
      limited_(pins != nullptr),
      credit_(pins != nullptr ? *pins : CreditPins{}) {
  if (limited_) apply();
}

std::size_t InFlight::room(std::size_t wanted) {
  if (limit_ == kUnlimited) return wanted;
  if (under_way_max_ + wanted > limit_) {
    under_way_max_ = unacknowledged(socket_);
    if (under_way_max_ == 0 && !waited_) since_update_ = 0;  // it was idle
  }
  return std::min(wanted, limit_ - std::min(under_way_max_, limit_));
}

void InFlight::wrote(std::size_t bytes) {
  if (!limited_) return;
  under_way_max_ += bytes;
  since_update_ += bytes;
  waited_ = false;
}

void InFlight::used_up() {
  if (!limited_) return;
  waited_ = true;
  if (credit_.pinned() || since_update_ < kCreditsPerUpdate * credit_.bytes()) return;
  since_update_ = 0;
  credit_.update(view_path(socket_));
  apply();
}

void InFlight::apply() {
  const std::size_t bytes = credit_.bytes();
  if (bytes < applied_ + applied_ / 16 && bytes + bytes / 16 > applied_) return;
  limit_ = limit_unacknowledged(socket_, bytes, kUnlimited);
  applied_ = bytes;
  if (2 * bytes > 3 * told_ || 3 * bytes < 2 * told_) {
    told_ = bytes;
    log::debug("TCP to {}: {} KiB may be under way, in fragments of {} KiB", name_, bytes >> 10,
               credit_.fragment_bytes() >> 10);
  }
}

}  // namespace strata::tcp
