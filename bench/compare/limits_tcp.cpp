// The limits over TCP: how fast bytes go between processes, in one direction or both, and how fast a word is.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "bench/compare/limits.hpp"

namespace strata::compare {
namespace {

constexpr std::uint64_t kPieceBytes = 128 << 10;

void require(bool well, const char* what) {
  if (well) return;
  std::perror(what);
  std::exit(3);
}

int new_socket(const std::string& congestion_control) {
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  require(s >= 0, "socket");
  const auto length = static_cast<socklen_t>(congestion_control.size());
  if (length > 0)
    require(::setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, congestion_control.c_str(), length) == 0,
            "TCP_CONGESTION");
  return s;
}

// Bytes moved; 0 if none can be now.
std::uint64_t moved(ssize_t result, const char* what) {
  if (result > 0) return static_cast<std::uint64_t>(result);
  require(result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK), what);
  return 0;
}

}  // namespace

Tcp::Tcp(Team& team, Kind kind, const std::string& congestion_control) : Primitive(team), kind_(kind) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  std::atomic<int>& port = team.board().ports[static_cast<std::size_t>(rank() / 2)];
  const int opened = new_socket(congestion_control);
  if (sends_first()) {
    require(::bind(opened, generic, length) == 0 && ::listen(opened, 1) == 0, "listen");
    require(::getsockname(opened, generic, &length) == 0, "getsockname");
    port = address.sin_port;
    barrier();
    socket_ = ::accept(opened, nullptr, nullptr);
    ::close(opened);
  } else {
    barrier();
    address.sin_port = static_cast<in_port_t>(port.load());
    socket_ = ::connect(opened, generic, length) == 0 ? opened : -1;
  }
  require(socket_ >= 0, "connect");
  const int on = 1;
  require(::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
}

Tcp::~Tcp() { ::close(socket_); }

void Tcp::call(int) {
  const std::uint64_t bytes = count_ * sizeof(float);
  if (kind_ == kExchange) return move(bytes, bytes);
  sends_first() ? move(bytes, 0) : move(0, bytes);
  if (kind_ == kHop) sends_first() ? move(0, bytes) : move(bytes, 0);
}

void Tcp::move(std::uint64_t send_bytes, std::uint64_t receive_bytes) {
  const auto* from = reinterpret_cast<const std::byte*>(from_.get());
  auto* into = reinterpret_cast<std::byte*>(into_.get());
  for (std::uint64_t sent = 0, received = 0; sent < send_bytes || received < receive_bytes;) {
    if (sent < send_bytes)
      sent += moved(
          ::send(socket_, from + sent, std::min(send_bytes - sent, kPieceBytes), MSG_DONTWAIT | MSG_NOSIGNAL),
          "send");
    if (received < receive_bytes)
      received += moved(
          ::recv(socket_, into + received, std::min(receive_bytes - received, kPieceBytes), MSG_DONTWAIT),
          "recv");
  }
}

bool Tcp::is_right() const {
  const bool receives = kind_ != kStream || !sends_first();
  return !receives || holds_what_was_from(rank() ^ 1);
}

}  // namespace strata::compare
