#include "ccl/bootstrap/rendezvous_connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <asio/experimental/as_tuple.hpp>
#include <tuple>
#include <utility>

#include "ccl/bootstrap/rendezvous_address.hpp"

namespace strata::rendezvous {
namespace {

constexpr auto kLingerMax = std::chrono::seconds(1);
constexpr auto kAsTuple = asio::experimental::as_tuple(asio::use_awaitable);

Status lost(const asio::error_code& error) {
  const bool ended = error == asio::error::eof;
  return {ErrorCode::peer_lost, ended ? "the connection was closed by the other side"
                                      : fmt::format("the connection broke: {}", error.message())};
}

}  // namespace

Connection::Connection(Socket socket, std::string peer)
    : socket_(std::move(socket)), peer_(std::move(peer)), limit_(socket_.get_executor()) {
  if (socket_.is_open()) set_options();
}

void Connection::set_options() {
  // The last small frame of an exchange must not wait for an acknowledgement. Sockets of a path have no such
  // option.
  asio::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

asio::awaitable<Status> Connection::connect(const SocketAddress& address) {
  const auto self = shared_from_this();
  asio::error_code error;
  socket_.open(asio::generic::stream_protocol(address.family(), 0), error);
  if (!error) {
    const Socket::endpoint_type endpoint(address.get(), address.length);
    std::tie(error) = co_await socket_.async_connect(endpoint, kAsTuple);
  }
  if (!closed_.ok()) co_return closed_;
  if (error)
    co_return Status(ErrorCode::unavailable,
                     fmt::format("connect to {}: {} (errno {})", peer_, error.message(), error.value()));
  // Where nobody listens at a port that the system also hands out, a connection may meet itself.
  asio::error_code ignored;
  if (address.family() != AF_UNIX && socket_.local_endpoint(ignored) == socket_.remote_endpoint(ignored))
    co_return Status(ErrorCode::unavailable, fmt::format("connect to {}: nobody listens there", peer_));
  set_options();
  co_return Status{};
}

asio::awaitable<Status> Connection::read_exactly(char* into, std::size_t bytes) {
  const auto [error, read] = co_await asio::async_read(socket_, asio::buffer(into, bytes), kAsTuple);
  if (!closed_.ok()) co_return closed_;
  co_return error ? lost(error) : Status{};
}

asio::awaitable<Expected<Message>> Connection::receive(std::uint32_t bytes_max) {
  const auto self = shared_from_this();
  std::array<char, kLengthBytes> prefix{};
  if (Status status = co_await read_exactly(prefix.data(), prefix.size()); !status.ok()) co_return status;
  const std::uint32_t length = frame_length({prefix.data(), prefix.size()});
  if (length == 0 || length > bytes_max)
    co_return Status(
        ErrorCode::mismatch,
        fmt::format("a message of {} bytes, where 1 to {} are allowed: no message of a rendezvous", length,
                    bytes_max));
  std::string frame(length, '\0');
  if (Status status = co_await read_exactly(frame.data(), frame.size()); !status.ok()) co_return status;
  co_return decode(frame);
}

void Connection::send(Frame frame) {
  if (!closed_.ok() || finishing_) return;
  queue_.push_back(std::move(frame));
  if (queue_.size() == 1) write_next();
}

void Connection::write_next() {
  const auto written = [self = shared_from_this()](const asio::error_code& error, std::size_t) {
    // A broken connection is noticed by who reads it; here there is only nothing more to write.
    if (error) self->queue_.clear();
    if (!self->queue_.empty()) self->queue_.pop_front();
    if (!self->queue_.empty()) return self->write_next();
    self->shut_down_when_drained();
  };
  asio::async_write(socket_, asio::buffer(*queue_.front()), written);
}

void Connection::shut_down_when_drained() {
  if (!finishing_ || !queue_.empty()) return;
  asio::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Connection::close(Status why) {
  if (!closed_.ok()) return;
  closed_ = std::move(why);
  limit_.cancel();
  asio::error_code ignored;
  socket_.close(ignored);
}

void Connection::close_after(std::chrono::milliseconds time, Status why) {
  limit_.expires_after(time);
  limit_.async_wait([weak = weak_from_this(), why = std::move(why)](const asio::error_code& error) {
    if (error) return;
    if (const auto self = weak.lock()) self->close(why);
  });
}

void Connection::finish() {
  if (!closed_.ok() || finishing_) return;
  finishing_ = true;
  close_after(kLingerMax, {ErrorCode::aborted, "the connection was ended by this side"});
  shut_down_when_drained();
}

std::string describe_peer(const Socket& socket) {
  asio::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return "a peer that is gone";
  const int family = endpoint.protocol().family();
  if (family == AF_UNIX) {
    ucred owner{};
    socklen_t length = sizeof owner;
    auto& native = const_cast<Socket&>(socket);
    if (::getsockopt(native.native_handle(), SOL_SOCKET, SO_PEERCRED, &owner, &length) != 0)
      return "a local process";
    return fmt::format("a process with pid {} of user {}", owner.pid, owner.uid);
  }
  asio::ip::tcp::endpoint address;
  if (endpoint.size() > address.capacity()) return "a peer without an address";
  std::copy_n(reinterpret_cast<const char*>(endpoint.data()), endpoint.size(),
              reinterpret_cast<char*>(address.data()));
  asio::ip::address ip = address.address();
  // An IPv4 peer at a socket for both families.
  if (ip.is_v6() && ip.to_v6().is_v4_mapped())
    ip = asio::ip::make_address_v4(asio::ip::v4_mapped, ip.to_v6());
  return join_host_port(ip.to_string(), address.port());
}

}  // namespace strata::rendezvous
