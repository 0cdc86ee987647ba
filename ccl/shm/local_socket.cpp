#include "ccl/shm/local_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ccl/base/check.hpp"
#include "ccl/base/errno_status.hpp"

namespace strata::shm {
namespace {

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t length = 0;
};

AbstractAddress abstract_address(std::string_view name) {
  AbstractAddress a;
  a.address.sun_family = AF_UNIX;
  const std::size_t bytes = std::min(name.size(), sizeof a.address.sun_path - 1);
  std::memcpy(a.address.sun_path + 1, name.data(), bytes);  // the leading zero makes it abstract
  a.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  return a;
}

Expected<Fd> local_socket() {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return errno_status("socket", "AF_UNIX, SOCK_SEQPACKET");
  return socket;
}

union Control {
  cmsghdr header;
  std::byte bytes[CMSG_SPACE(sizeof(int) * kPassedFds)];
};

// Takes ownership of every descriptor that came with the message, wanted or not.
std::size_t take_fds(msghdr& message, PassedFds& fds) {
  std::size_t taken = 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      if (taken < fds.size()) {
        fds[taken++].reset(fd);
      } else {
        ::close(fd);
      }
    }
  }
  return taken;
}

}  // namespace

Expected<LocalListener> listen_locally() {
  std::array<unsigned char, 16> random;
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return errno_status("getrandom", "the name of a local socket");
  LocalListener listener;
  listener.name = "strata-";
  for (const unsigned char byte : random) listener.name += fmt::format("{:02x}", byte);
  Expected<Fd> socket = local_socket();
  if (!socket) return socket.status();
  const AbstractAddress a = abstract_address(listener.name);
  if (::bind(socket->get(), reinterpret_cast<const sockaddr*>(&a.address), a.length) != 0)
    return errno_status("bind", "@" + listener.name);
  if (::listen(socket->get(), SOMAXCONN) != 0) return errno_status("listen", "@" + listener.name);
  listener.socket = std::move(*socket);
  return listener;
}

Expected<Fd> connect_locally(std::string_view name, bool& again) {
  again = false;
  Expected<Fd> socket = local_socket();
  if (!socket) return socket.status();
  const AbstractAddress a = abstract_address(name);
  if (::connect(socket->get(), reinterpret_cast<const sockaddr*>(&a.address), a.length) == 0) return socket;
  again = errno == EAGAIN || errno == ECONNREFUSED || errno == EINTR;
  return errno_status("connect", fmt::format("@{}", name));
}

Status send_record(const Fd& socket, std::span<const std::byte> record, std::span<const int> fds) {
  return send_record(socket.get(), record, fds);
}

Status send_record(int socket, std::span<const std::byte> record, std::span<const int> fds) {
  STRATA_CHECK(fds.size() <= kPassedFds, fds.size());
  iovec part{const_cast<std::byte*>(record.data()), record.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size_bytes());
  }
  ssize_t sent;
  do sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {ErrorCode::timeout, "its queue is full"};
  if (sent < 0) return errno_status(fds.empty() ? "sendmsg" : "sendmsg(SCM_RIGHTS)", "a local socket");
  return {};
}

namespace {

Status unwanted(std::size_t bytes, std::size_t fds, std::size_t bytes_wanted, std::size_t fds_wanted,
                bool truncated) {
  return {
      ErrorCode::unauthenticated,
      fmt::format("a record of {} bytes with {} descriptors came instead of {} and {}{}", bytes, fds,
                  bytes_wanted, fds_wanted, truncated ? " (were there too many open files? ulimit -n)" : "")};
}

struct Received {
  std::size_t bytes = 0, fds = 0;
  int flags = 0;
};

Expected<Received> receive(int socket, std::span<std::byte> record, PassedFds& fds) {
  iovec part{record.data(), record.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return Status(ErrorCode::timeout, "nothing has arrived");
  if (got < 0) return errno_status("recvmsg", "a local socket");
  const std::size_t count = take_fds(message, fds);
  if (got == 0) return Status(ErrorCode::peer_lost, "it closed the connection");
  return Received{static_cast<std::size_t>(got), count, message.msg_flags};
}

}  // namespace

Status receive_record(const Fd& socket, std::span<std::byte> record, PassedFds* fds) {
  PassedFds taken;
  const Expected<Received> got = receive(socket.get(), record, taken);
  if (!got) return got.status();
  const std::size_t wanted = fds == nullptr ? 0 : kPassedFds;
  if ((got->flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || got->bytes != record.size() || got->fds != wanted)
    return unwanted(got->bytes, got->fds, record.size(), wanted, (got->flags & MSG_CTRUNC) != 0);
  if (fds != nullptr) *fds = std::move(taken);
  return {};
}

Expected<std::size_t> receive_some(int socket, std::span<std::byte> record, PassedFds& fds) {
  const Expected<Received> got = receive(socket, record, fds);
  if (!got) return got.status();
  if ((got->flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || got->bytes != record.size())
    return unwanted(got->bytes, got->fds, record.size(), 1, (got->flags & MSG_CTRUNC) != 0);
  return got->fds;
}

Expected<PeerProcess> peer_process(const Fd& socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return errno_status("getsockopt(SO_PEERCRED)", "a local socket");
  return PeerProcess{credentials.uid, credentials.pid};
}

Status wait_readable(const Fd& socket, int milliseconds) {
  pollfd waited{socket.get(), POLLIN, 0};
  const int ready = ::poll(&waited, 1, milliseconds);
  if (ready < 0 && errno != EINTR) return errno_status("poll", "a local socket");
  if (ready <= 0) return {ErrorCode::timeout, "nothing has arrived"};
  return {};
}

}  // namespace strata::shm
