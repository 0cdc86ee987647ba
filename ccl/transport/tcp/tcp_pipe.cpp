#include "ccl/transport/tcp/tcp_pipe.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "ccl/base/check.hpp"
#include "ccl/transport/tcp/socket_options.hpp"

namespace strata::tcp {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kLittleBytes = 4 << 10;  // taken into the buffer while it may belong to a direct read
constexpr std::size_t kDirectBytes = 4 << 10;  // a read of so much goes past the buffer
constexpr std::size_t kPartsMax = 64;          // of one call to the kernel; what is beyond goes with the next

std::string reason_of(int error) {
  if (error == ETIMEDOUT) return fmt::format("it has not answered for {} s", kSilenceMs / 1000);
  return std::generic_category().message(error);
}

ssize_t receive_into_both(int socket, std::span<std::byte> first, std::span<std::byte> then) {
  std::array<iovec, 2> parts{{{first.data(), first.size()}, {then.data(), then.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::recvmsg(socket, &message, MSG_DONTWAIT);
}

}  // namespace

TcpPipe::TcpPipe(Connection connection, const CreditPins& pins)
    : connection_(std::move(connection)),
      in_flight_(socket(), connection_.name, connection_.same_host ? nullptr : &pins),
      buffer_(new std::byte[kBufferBytes]),
      fill_bytes_(kLittleBytes) {}

void TcpPipe::writable() {
  unreported_ = unreported_ || starved_;
  starved_ = false;
}

void TcpPipe::readable() {
  drained_ = ended_;
  fill_bytes_ = kLittleBytes;
}

// A child that this process forked may keep the socket open; the peer hears of our end all the same.
TcpPipe::~TcpPipe() { ::shutdown(socket(), SHUT_RDWR); }

void TcpPipe::close() { ::shutdown(socket(), SHUT_WR); }

void TcpPipe::end(std::string_view reason) {
  if (!status_.ok()) return;
  status_ = Status(ErrorCode::peer_lost, fmt::format("TCP to {}: {}", connection_.name, reason));
  unreported_ = true;
}

void TcpPipe::fail(std::string_view call) {
  const int error = errno;
  end(fmt::format("{}: {}", call, reason_of(error)));
}

// The first `bytes` of the parts; at most kPartsMax.
ssize_t TcpPipe::send(std::span<const iovec> parts, std::size_t bytes) {
  if (bytes == 0) return 0;
  std::array<iovec, kPartsMax> some;
  std::size_t count = 0;
  for (std::size_t left = bytes; left > 0; left -= some[count++].iov_len) {
    some[count] = parts[count];
    some[count].iov_len = std::min(some[count].iov_len, left);
  }
  msghdr message{};
  message.msg_iov = some.data();
  message.msg_iovlen = count;
  return ::sendmsg(socket(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::size_t TcpPipe::write(std::span<const iovec> parts) {
  std::size_t done = 0;
  while (!parts.empty() && status_.ok()) {
    const std::span<const iovec> some = parts.first(std::min(parts.size(), kPartsMax));
    std::size_t offered = 0;
    for (const iovec& part : some) offered += part.iov_len;
    const ssize_t sent = send(some, in_flight_.room(offered));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      fail("send");
      drained_ = ended_;  // what arrived before is still there
      break;
    }
    const std::size_t taken = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    done += taken;
    in_flight_.wrote(taken);
    starved_ = taken < offered;
    if (starved_) {
      in_flight_.used_up();
      break;
    }
    parts = parts.subspan(some.size());
  }
  return done;
}

// Into the destination first, what follows it into the (empty) buffer. Returns how much came into the
// destination.
std::size_t TcpPipe::receive(std::span<std::byte> into, std::size_t buffer_bytes) {
  ssize_t got;
  do
    got = into.empty() ? ::recv(socket(), buffer_.get(), buffer_bytes, MSG_DONTWAIT)
                       : receive_into_both(socket(), into, {buffer_.get(), buffer_bytes});
  while (got < 0 && errno == EINTR);
  const std::size_t bytes = got > 0 ? static_cast<std::size_t>(got) : 0;
  ended_ = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  if (got < 0 && ended_) fail("receive");
  if (got == 0) end("it closed the connection");
  // A broken pipe gets no more events, so it is read until nothing comes.
  ended_ = ended_ || (!status_.ok() && bytes == 0);
  drained_ = ended_ || (status_.ok() && bytes < into.size() + buffer_bytes);
  begin_ = 0;
  end_ = bytes > into.size() ? bytes - into.size() : 0;
  return bytes - end_;
}

// Bytes for a direct read are copied twice if they come by the buffer. So it takes a little, a header say,
// and all it can only when it was emptied without such a read: small messages, or large ones that are reduced
// as they come.
void TcpPipe::fill() {
  receive({}, fill_bytes_);
  fill_bytes_ = kBufferBytes;
}

void TcpPipe::look_again() {
  if (begin_ == end_ && drained_ && !ended_) receive({}, kLittleBytes);
}

std::span<const std::byte> TcpPipe::peek() {
  if (begin_ == end_ && !drained_) fill();
  return {buffer_.get() + begin_, end_ - begin_};
}

void TcpPipe::consume(std::size_t bytes) {
  STRATA_CHECK(bytes <= end_ - begin_, bytes, begin_, end_);
  begin_ += bytes;
}

std::size_t TcpPipe::read(std::span<std::byte> into) {
  const auto take = [&](std::span<std::byte> rest) {
    const std::size_t bytes = std::min(rest.size(), end_ - begin_);
    if (bytes == 0) return bytes;
    std::memcpy(rest.data(), buffer_.get() + begin_, bytes);
    begin_ += bytes;
    return bytes;
  };
  std::size_t done = take(into);
  const std::span<std::byte> rest = into.subspan(done);
  if (rest.empty() || drained_) return done;
  if (rest.size() >= kDirectBytes) {
    fill_bytes_ = kLittleBytes;
    return done + receive(rest, kLittleBytes);
  }
  fill();
  return done + take(rest);
}

}  // namespace strata::tcp
