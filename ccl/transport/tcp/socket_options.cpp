#include "ccl/transport/tcp/socket_options.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string_view>

#include "ccl/base/errno_status.hpp"

namespace strata::tcp {
namespace {

// Unsent bytes the kernel may hold: what is in there cannot be overtaken by what is more urgent. The loopback
// is through with them in no time.
constexpr int kUnsentBytesMax = 128 << 10, kUnsentBytesMaxHere = 1 << 20;
// What the loopback has in flight should stay in the caches; it needs no room for a network's delay.
constexpr int kSendBufferBytesHere = 256 << 10;
// An idle connection is tried after so long, and given up together with the others (TCP_USER_TIMEOUT).
constexpr int kIdleSeconds = 15, kTrySeconds = 5;

bool set(const Fd& socket, int level, int option, int value) {
  return ::setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
}

// BBR paces by a timer, which halves what the loopback carries in both directions at once.
void avoid_pacing(const Fd& socket) {
  std::array<char, 16> name{};
  socklen_t length = name.size() - 1;
  if (::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return;
  if (std::string_view(name.data()).substr(0, 3) != "bbr") return;
  for (const std::string_view better : {"cubic", "reno"})
    if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, better.data(),
                     static_cast<socklen_t>(better.size())) == 0)
      return;
}

}  // namespace

bool stay_on(const std::string& interface, int socket) {
  return ::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, interface.data(),
                      static_cast<socklen_t>(interface.size())) == 0;
}

Status set_options(const Fd& socket, bool same_host) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return errno_status("fcntl(O_NONBLOCK)", "a TCP connection");
  // A program started by this process must not keep the connection open beyond this process' end.
  if (::fcntl(socket.get(), F_SETFD, FD_CLOEXEC) != 0)
    return errno_status("fcntl(FD_CLOEXEC)", "a TCP connection");
  if (!set(socket, IPPROTO_TCP, TCP_NODELAY, 1))
    return errno_status("setsockopt(TCP_NODELAY)", "a TCP connection");
  if (!set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kSilenceMs))
    return errno_status("setsockopt(TCP_USER_TIMEOUT)", "a TCP connection");
  if (!set(socket, SOL_SOCKET, SO_KEEPALIVE, 1))
    return errno_status("setsockopt(SO_KEEPALIVE)", "a TCP connection");
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kTrySeconds);
  set(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, same_host ? kUnsentBytesMaxHere : kUnsentBytesMax);
  if (same_host) {
    set(socket, SOL_SOCKET, SO_SNDBUF, kSendBufferBytesHere);
    avoid_pacing(socket);
  }
  return {};
}

}  // namespace strata::tcp
