#include "ccl/bootstrap/rendezvous_listener.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "ccl/bootstrap/rendezvous_resolve.hpp"

namespace strata::rendezvous {
namespace {

// A rank that tries to connect while nobody listens may, for a moment, hold the very port (a connection to
// itself), and a job that has just ended may still be closing. Both pass quickly.
constexpr auto kInUseMax = std::chrono::milliseconds(500);
constexpr auto kInUsePause = std::chrono::milliseconds(10);

Status cannot_listen(int reason, std::string_view where) {
  std::string_view cure = "see the system's reason";
  if (reason == EADDRINUSE)
    cure =
        "another process listens there: another job, or a second rank 0 of this one; end it, or choose "
        "another "
        "port or path in STRATA_RENDEZVOUS (MASTER_PORT) on all ranks";
  if (reason == EACCES) cure = "ports below 1024 need privileges, and a path a folder that may be written";
  if (reason == EADDRNOTAVAIL) cure = "give an address of rank 0's host";
  if (reason == ENOENT || reason == ENOTDIR) cure = "the path's folder must exist";
  if (reason == EMFILE || reason == ENFILE) cure = "raise the limit of open files (ulimit -n)";
  return {ErrorCode::unavailable, fmt::format("rank 0 cannot listen at {}: {} (errno {}); {}", where,
                                              std::generic_category().message(reason), reason, cure)};
}

// 0, or errno.
int bind_and_listen(const SocketAddress& address, bool both_families, Fd& fd) {
  fd.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return errno;
  const int on = 1, only = both_families ? 0 : 1;
  // Connections of a job that has ended may linger at the port; they are no reason to refuse the next.
  if (address.family() != AF_UNIX) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  if (::bind(fd.get(), address.get(), address.length) != 0) return errno;
  return ::listen(fd.get(), SOMAXCONN) == 0 ? 0 : errno;
}

int bind_and_listen_patiently(const SocketAddress& address, bool both_families, Fd& fd) {
  const auto end = std::chrono::steady_clock::now() + kInUseMax;
  for (;;) {
    const int error = bind_and_listen(address, both_families, fd);
    if (error != EADDRINUSE || std::chrono::steady_clock::now() >= end) return error;
    std::this_thread::sleep_for(kInUsePause);
  }
}

Expected<ListeningSocket> listen_everywhere(std::uint16_t port) {
  Fd fd;
  const SocketAddress both = any_address(AF_INET6, port), ipv4 = any_address(AF_INET, port);
  int error = bind_and_listen_patiently(both, true, fd);
  if (error == 0)
    return ListeningSocket{std::move(fd), AF_INET6, fmt::format("port {} of this host", port), false, {}};
  // A host without IPv6.
  if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) error = bind_and_listen_patiently(ipv4, false, fd);
  if (error != 0) return cannot_listen(error, fmt::format("port {} of this host", port));
  return ListeningSocket{std::move(fd), AF_INET, fmt::format("port {} of this host", port), false, {}};
}

Expected<ListeningSocket> listen_tcp(const RendezvousAddress& address) {
  if (!is_numeric(address.host) && address.host != "localhost") return listen_everywhere(address.port);
  const auto resolved = resolve(address);
  if (!resolved) return resolved.status();
  const SocketAddress& first = resolved->front();
  Fd fd;
  const int error = bind_and_listen_patiently(first, false, fd);
  if (error == EADDRNOTAVAIL && !is_loopback(first)) return listen_everywhere(address.port);
  if (error != 0) return cannot_listen(error, to_string(first));
  return ListeningSocket{std::move(fd), first.family(), to_string(first), is_loopback(first), {}};
}

// Does a process listen at the path? If none does, whoever made it is dead.
bool is_alive(const SocketAddress& address) {
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  return !fd.valid() || ::connect(fd.get(), address.get(), address.length) == 0 || errno != ECONNREFUSED;
}

Expected<ListeningSocket> listen_path(const std::string& path) {
  const SocketAddress address = path_address(path);
  Fd fd;
  int error = bind_and_listen(address, false, fd);
  if (error == EADDRINUSE) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode))
      return Status(
          ErrorCode::invalid_argument,
          fmt::format("the rendezvous is \"{}\", but that is a file and no socket; it is left as it is: give "
                      "a path that does not exist",
                      path));
    if (!is_alive(address) && ::unlink(path.c_str()) == 0) error = bind_and_listen(address, false, fd);
  }
  if (error != 0) return cannot_listen(error, path);
  BoundPath bound(path);
  ::chmod(path.c_str(), 0600);
  return ListeningSocket{std::move(fd), AF_UNIX, path, true, std::move(bound)};
}

}  // namespace

BoundPath::BoundPath(std::string path) {
  struct stat made {};
  if (::lstat(path.c_str(), &made) != 0) return;
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  path_ = ignored ? std::move(path) : absolute.string();
  device_ = made.st_dev, inode_ = made.st_ino;
}

BoundPath::~BoundPath() {
  struct stat now {};
  if (path_.empty() || ::lstat(path_.c_str(), &now) != 0) return;
  if (now.st_dev == device_ && now.st_ino == inode_) ::unlink(path_.c_str());
}

void BoundPath::swap(BoundPath& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
}

Expected<ListeningSocket> listen_at(const RendezvousAddress& address) {
  return address.is_path() ? listen_path(address.path) : listen_tcp(address);
}

}  // namespace strata::rendezvous
