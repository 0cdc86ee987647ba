// The limit over TCP: one connection, both directions at once.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bench/compare/limits.hpp"
#include "bench/compare/limits_kernels.hpp"

namespace strata::compare {
namespace {

constexpr std::uint64_t kWholeBytesMax = 16 << 10;  // up to here inputs are exchanged whole: one way less
constexpr std::uint64_t kPieceBytes = 128 << 10;

void require(bool well, const char* what) {
  if (well) return;
  std::perror(what);
  std::exit(3);
}

int new_socket(const char* congestion_control) {
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  require(s >= 0, "socket");
  const auto length = static_cast<socklen_t>(std::strlen(congestion_control));
  if (length > 0)
    require(::setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, congestion_control, length) == 0, "TCP_CONGESTION");
  return s;
}

// Bytes moved; 0 if none can be now.
std::uint64_t moved(ssize_t result, const char* what) {
  if (result > 0) return static_cast<std::uint64_t>(result);
  require(result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK), what);
  return 0;
}

}  // namespace

Tcp::Tcp(Pair& pair, const char* congestion_control) : Limit(pair) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const int opened = new_socket(congestion_control);
  if (rank() == 0) {
    require(::bind(opened, generic, length) == 0 && ::listen(opened, 1) == 0, "listen");
    require(::getsockname(opened, generic, &length) == 0, "getsockname");
    pair.board().port = address.sin_port;
    barrier();
    socket_ = ::accept(opened, nullptr, nullptr);
    ::close(opened);
  } else {
    barrier();
    address.sin_port = static_cast<in_port_t>(pair.board().port);
    socket_ = ::connect(opened, generic, length) == 0 ? opened : -1;
  }
  require(socket_ >= 0, "connect");
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Tcp::~Tcp() { ::close(socket_); }

std::optional<Buffers> Tcp::prepare(Collective collective, std::uint64_t bytes) {
  if (collective != Collective::all_reduce || bytes % (2 * sizeof(float)) != 0) return std::nullopt;
  take_private_buffers(collective, bytes);
  scratch_ = map_memory(std::max(kWholeBytesMax, kPieceBytes) / sizeof(float) + 1, MAP_PRIVATE);
  return buffers_;
}

void Tcp::call(int) {
  sent_ = received_ = reduced_ = 0;
  if (buffers_.in_count * sizeof(float) <= kWholeBytesMax)
    exchange_whole();
  else
    exchange_halves();
}

// The whole input each way, then one addition.
void Tcp::exchange_whole() {
  const std::uint64_t bytes = buffers_.in_count * sizeof(float);
  const auto* from = reinterpret_cast<const std::byte*>(buffers_.in);
  auto* into = reinterpret_cast<std::byte*>(scratch_.get());
  while (sent_ < bytes || received_ < bytes) {
    if (sent_ < bytes) sent_ += send_some(from + sent_, bytes - sent_);
    if (received_ < bytes) received_ += receive_some(into + received_, bytes - received_);
  }
  add(buffers_.out, buffers_.in, scratch_.get(), buffers_.out_count);
}

// One stream each way: the input for the half that the other reduces, then the reduced own half as far as it
// is ready.
void Tcp::exchange_halves() {
  const std::uint64_t half = half_of(0).count * sizeof(float);
  while (sent_ < 2 * half || received_ < 2 * half) {
    send_what_is_ready(half);
    if (received_ < half)
      receive_and_reduce(half);
    else if (received_ < 2 * half)
      receive_result(half);
  }
}

void Tcp::send_what_is_ready(std::uint64_t half) {
  const std::uint64_t ready = sent_ < half ? half : half + reduced_;
  if (sent_ == ready) return;
  const auto* input = reinterpret_cast<const std::byte*>(buffers_.in + half_of(pair_.other()).first);
  const auto* result = reinterpret_cast<const std::byte*>(buffers_.out + half_of(rank()).first);
  const std::byte* from = sent_ < half ? input + sent_ : result + (sent_ - half);
  sent_ += send_some(from, ready - sent_);
}

// What has come but is not a whole element stays at the scratch memory's begin.
void Tcp::receive_and_reduce(std::uint64_t half) {
  auto* scratch = reinterpret_cast<std::byte*>(scratch_.get());
  const std::uint64_t now = receive_some(scratch + (received_ - reduced_), half - received_);
  if (now == 0) return;
  received_ += now;
  const std::uint64_t count = (received_ - reduced_) / sizeof(float);
  const std::uint64_t first = half_of(rank()).first + reduced_ / sizeof(float);
  add(buffers_.out + first, buffers_.in + first, scratch_.get(), count);
  reduced_ += count * sizeof(float);
  std::memmove(scratch, scratch + count * sizeof(float), received_ - reduced_);
}

void Tcp::receive_result(std::uint64_t half) {
  auto* result = reinterpret_cast<std::byte*>(buffers_.out + half_of(pair_.other()).first);
  received_ += receive_some(result + (received_ - half), 2 * half - received_);
}

std::uint64_t Tcp::send_some(const std::byte* from, std::uint64_t bytes) {
  return moved(::send(socket_, from, std::min(bytes, kPieceBytes), MSG_DONTWAIT | MSG_NOSIGNAL), "send");
}

std::uint64_t Tcp::receive_some(std::byte* into, std::uint64_t bytes) {
  return moved(::recv(socket_, into, std::min(bytes, kPieceBytes), MSG_DONTWAIT), "recv");
}

}  // namespace strata::compare
