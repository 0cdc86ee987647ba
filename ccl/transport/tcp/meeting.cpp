#include "ccl/transport/tcp/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <cerrno>
#include <chrono>

#include "ccl/base/log.hpp"
#include "ccl/transport/fd_limit.hpp"
#include "ccl/transport/handshake.hpp"
#include "ccl/transport/tcp/socket_options.hpp"
#include "ccl/transport/tcp/wire.hpp"

namespace strata::tcp {
namespace {

using asio::awaitable;
using asio::ip::tcp;
using std::chrono::milliseconds;

constexpr Greeting kGreeting = {'s', 't', 'r', 't', 'c', 'p', '0', '3'};
constexpr milliseconds kConnectLimit{5'000};    // of one attempt at one address
constexpr milliseconds kStrangerLimit{10'000};  // an accepted connection must have proved itself by then
constexpr milliseconds kRetryFirst{2}, kRetryMax{250};
constexpr std::size_t kStrangersMax = 256;  // accepted and not proved yet, beyond the expected ones

constexpr auto kAwait = asio::use_awaitable;

std::string text_of(const tcp::endpoint& at) {
  return to_text(Endpoint{at.address().to_string(), at.port(), at.address().is_v6(), false});
}

// What became of one attempt to call a peer. Neither connected nor fatal: worth trying again.
struct Attempt {
  bool connected = false;
  bool fatal = false;
  Status status;
};

class Meeting final {
 public:
  Meeting(Exchange& exchange, std::span<ListeningSocket> listeners,
          std::span<const TcpDescriptor> descriptors, std::span<const Rank> peers)
      : exchange_(exchange),
        descriptors_(descriptors),
        peers_(peers),
        last_trouble_(peers.size()),
        listeners_(listeners) {
    for (const Rank peer : peers) {
      first_connection_.push_back(connections_.size());
      connections_.resize(connections_.size() + streams_to(peer));
    }
  }

  Status run();
  std::vector<Connection> take() { return std::move(connections_); }

 private:
  void start(awaitable<void> coroutine);
  awaitable<void> give_up_at_the_deadline();
  awaitable<void> accept_all(tcp::acceptor& acceptor);
  awaitable<void> receive_call(SharedSocket socket);
  awaitable<Status> examine(SharedSocket socket, Hello& hello);
  awaitable<void> call(Rank peer, std::uint32_t stream);
  awaitable<Attempt> try_endpoint(Rank peer, std::uint32_t stream, Endpoint endpoint);
  void leave_by_rail(Socket& socket, const Endpoint& to);
  awaitable<Attempt> introduce(SharedSocket socket, Rank peer, std::uint32_t stream, std::string name);

  std::size_t index_of(Rank peer) const {
    return static_cast<std::size_t>(std::find(peers_.begin(), peers_.end(), peer) - peers_.begin());
  }
  Connection& connection(Rank peer, std::uint32_t stream) {
    return connections_[first_connection_[index_of(peer)] + stream];
  }
  std::uint32_t streams_to(Rank peer) const {
    return streams(descriptor_of(exchange_.rank()), descriptor_of(peer));
  }
  const TcpDescriptor& descriptor_of(Rank rank) const { return descriptors_[static_cast<std::size_t>(rank)]; }
  std::string name_of(Rank peer, const std::string& where) const {
    return fmt::format("rank {} (host {}, {})", peer, descriptor_of(peer).host_name, where);
  }
  Status check_hello(const Hello& hello) const;
  void settle(Rank peer, std::uint32_t stream, Socket& socket, std::string name);
  void fail(Status status);
  Status deadline_passed() const;
  std::size_t descriptors_needed() const { return connections_.size() + 16; }

  Exchange& exchange_;
  std::span<const TcpDescriptor> descriptors_;
  std::span<const Rank> peers_;
  std::vector<Connection> connections_;        // peer by peer; those not made yet have no peer
  std::vector<std::size_t> first_connection_;  // of each peer
  std::vector<std::string> last_trouble_;
  std::size_t settled_ = 0;
  std::size_t strangers_ = 0;
  Status status_;
  std::span<ListeningSocket> listeners_;
  // Last: coroutines that are still under way end with io_, and may use all the rest.
  asio::io_context io_{1};
  std::vector<tcp::acceptor> acceptors_;
};

void Meeting::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
  io_.stop();
}

Status Meeting::deadline_passed() const {
  std::string missing;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto first = connections_.begin() + static_cast<std::ptrdiff_t>(first_connection_[i]);
    if (std::all_of(first, first + streams_to(peers_[i]),
                    [](const Connection& c) { return c.peer != kNoRank; }))
      continue;
    const std::string trouble =
        peers_[i] < exchange_.rank() ? "it has not connected to us" : last_trouble_[i];
    missing += fmt::format("{} {}: {}", missing.empty() ? "" : ";", name_of(peers_[i], "TCP"), trouble);
  }
  return {ErrorCode::timeout,
          fmt::format("TCP: the deadline passed before rank {} (host {}) was connected to{}",
                      exchange_.rank(), descriptor_of(exchange_.rank()).host_name, missing)};
}

void Meeting::settle(Rank peer, std::uint32_t stream, Socket& socket, std::string name) {
  std::error_code error;
  Fd fd(socket.release(error));
  if (error || !fd.valid()) return fail({ErrorCode::unavailable, name + ": " + error.message()});
  const bool same_host = descriptor_of(peer).host_id == descriptor_of(exchange_.rank()).host_id;
  if (Status status = set_options(fd, same_host); !status.ok())
    return fail({status.code(), fmt::format("{}: {}", name, status.message())});
  Connection& c = connection(peer, stream);
  // A peer that calls again has given up the connection it had.
  if (c.peer == kNoRank) ++settled_;
  c = {peer, stream, std::move(fd), std::move(name), same_host};
  if (settled_ == connections_.size()) io_.stop();
}

void Meeting::start(awaitable<void> coroutine) {
  asio::co_spawn(io_, std::move(coroutine), [this](std::exception_ptr thrown) {
    if (thrown) fail({ErrorCode::internal, "TCP: an exception while connecting; is memory short?"});
  });
}

Status Meeting::run() {
  if (peers_.empty()) return {};
  for (ListeningSocket& l : listeners_)
    acceptors_.emplace_back(io_, l.endpoint.ipv6 ? tcp::v6() : tcp::v4(), l.socket.release());
  for (tcp::acceptor& acceptor : acceptors_) start(accept_all(acceptor));
  for (const Rank peer : peers_)
    for (std::uint32_t stream = 0; peer > exchange_.rank() && stream < streams_to(peer); ++stream)
      start(call(peer, stream));
  start(give_up_at_the_deadline());
  io_.run();
  return status_;
}

awaitable<void> Meeting::give_up_at_the_deadline() {
  asio::steady_timer timer(io_, milliseconds(exchange_.milliseconds_left()));
  co_await timer.async_wait(kAwait);
  fail(deadline_passed());
}

awaitable<void> Meeting::accept_all(tcp::acceptor& acceptor) {
  for (;;) {
    std::error_code error;
    auto socket = std::make_shared<Socket>(io_);
    co_await acceptor.async_accept(*socket, asio::redirect_error(kAwait, error));
    if (error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system) {
      errno = error.value();
      co_return fail(open_failed("accept", "a TCP connection", descriptors_needed()));
    }
    if (error) {  // the caller has gone again, or memory is short for the moment
      asio::steady_timer timer(io_, kRetryFirst);
      co_await timer.async_wait(kAwait);
    } else if (strangers_ < connections_.size() + kStrangersMax) {
      start(receive_call(std::move(socket)));
    }
  }
}

// Whatever a stranger sends, or does not send, ends only its own connection.
awaitable<void> Meeting::receive_call(SharedSocket socket) {
  ++strangers_;
  std::error_code error;
  const std::string from = text_of(socket->remote_endpoint(error));
  Hello hello;
  const Status status = co_await examine(socket, hello);
  --strangers_;
  if (status.ok()) co_return settle(hello.from, hello.stream, *socket, name_of(hello.from, from));
  log::warn("TCP: dropped a connection from {}: {}", from, status.message());
}

Status Meeting::check_hello(const Hello& hello) const {
  if (hello.greeting != kGreeting) return {ErrorCode::unauthenticated, "it does not speak this protocol"};
  if (hello.to != exchange_.rank() || hello.from >= exchange_.rank() || index_of(hello.from) == peers_.size())
    return {ErrorCode::unauthenticated, fmt::format("rank {} is not expected to call here", hello.from)};
  if (hello.stream >= streams_to(hello.from))
    return {ErrorCode::unauthenticated, fmt::format("it is connection {} of rank {}, which has {}",
                                                    hello.stream, hello.from, streams_to(hello.from))};
  return {};
}

awaitable<Status> Meeting::examine(SharedSocket socket, Hello& hello) {
  const TimeLimit limit(socket, kStrangerLimit);
  const auto broken = [](const std::error_code& e) {
    return Status(ErrorCode::unauthenticated, e == asio::error::operation_aborted
                                                  ? std::string("it did not say what it should in time")
                                                  : e.message());
  };
  std::error_code error = co_await read_record(*socket, hello.greeting);  // first: most strangers fail by it
  if (error) co_return broken(error);
  if (hello.greeting == kGreeting) {
    error = co_await read_bytes(*socket,
                                std::as_writable_bytes(std::span(&hello, 1)).subspan(sizeof hello.greeting));
    if (error) co_return broken(error);
  }
  if (Status status = check_hello(hello); !status.ok()) co_return status;
  const Expected<Answer> answer = make_answer(exchange_.session_key(), hello);
  if (!answer) co_return answer.status();
  error = co_await write_record(*socket, *answer);
  if (error) co_return broken(error);
  Confirm confirm;
  error = co_await read_record(*socket, confirm);
  if (error) co_return broken(error);
  if (!verify(exchange_.session_key(), hello, *answer, confirm))
    co_return Status(
        ErrorCode::unauthenticated,
        fmt::format("it says it is rank {} and does not have this job's session key", hello.from));
  const Welcome welcome = make_welcome(exchange_.session_key(), hello, *answer);
  error = co_await write_record(*socket, welcome);
  co_return error ? broken(error) : Status();
}

awaitable<void> Meeting::call(Rank peer, std::uint32_t stream) {
  const TcpDescriptor &mine = descriptor_of(exchange_.rank()), &theirs = descriptor_of(peer);
  const std::vector<Endpoint> endpoints = ways(mine, theirs, stream % rails(mine, theirs));
  milliseconds pause = kRetryFirst;
  for (;;) {
    for (const Endpoint& endpoint : endpoints) {
      Attempt attempt = co_await try_endpoint(peer, stream, endpoint);
      if (attempt.connected) co_return;
      if (attempt.fatal) co_return fail(attempt.status);
      last_trouble_[index_of(peer)] = attempt.status.message();
    }
    asio::steady_timer timer(io_, pause);
    co_await timer.async_wait(kAwait);
    pause = std::min(2 * pause, kRetryMax);
  }
}

// From the interface that is the peer's counterpart. What the system does not let us do, its routes decide.
void Meeting::leave_by_rail(Socket& socket, const Endpoint& to) {
  const auto mine = std::find_if(listeners_.begin(), listeners_.end(), [&](const ListeningSocket& l) {
    return !l.endpoint.loopback && l.endpoint.rail == to.rail && l.endpoint.ipv6 == to.ipv6;
  });
  if (mine == listeners_.end()) return;
  std::error_code ignored;
  socket.bind({asio::ip::make_address(mine->endpoint.address), 0}, ignored);
  if (!mine->interface.empty()) stay_on(mine->interface, socket.native_handle());
}

awaitable<Attempt> Meeting::try_endpoint(Rank peer, std::uint32_t stream, Endpoint endpoint) {
  const std::string name = name_of(peer, to_text(endpoint));
  const tcp::endpoint at(asio::ip::make_address(endpoint.address), endpoint.port);
  auto socket = std::make_shared<Socket>(io_);
  std::error_code error;
  socket->open(at.protocol(), error);
  if (error) {
    errno = error.value();
    co_return Attempt{false, true, open_failed("socket", name, descriptors_needed())};
  }
  {
    const TimeLimit limit(socket, kConnectLimit);
    if (rails(descriptor_of(exchange_.rank()), descriptor_of(peer)) > 1) leave_by_rail(*socket, endpoint);
    co_await socket->async_connect(at, asio::redirect_error(kAwait, error));
  }
  if (error == asio::error::operation_aborted) error = asio::error::timed_out;
  if (error)
    co_return Attempt{
        false, false, {ErrorCode::unavailable, fmt::format("connect to {}: {}", name, error.message())}};
  co_return co_await introduce(std::move(socket), peer, stream, name);
}

// A peer that is late leaves the connection in its queue, so there is no limit but the meeting's.
awaitable<Attempt> Meeting::introduce(SharedSocket socket, Rank peer, std::uint32_t stream,
                                      std::string name) {
  const auto broken = [&name](const std::error_code& e) {
    return Attempt{
        false, false, {ErrorCode::unavailable, fmt::format("{} ended the handshake: {}", name, e.message())}};
  };
  const auto wrong = [&name](std::string_view what) {
    return Attempt{false, true, {ErrorCode::unauthenticated, fmt::format("{} {}", name, what)}};
  };
  const Expected<Hello> hello = make_hello(kGreeting, exchange_.rank(), peer, stream);
  if (!hello) co_return Attempt{false, true, hello.status()};
  std::error_code error = co_await write_record(*socket, *hello);
  if (error) co_return broken(error);
  last_trouble_[index_of(peer)] = "it took the connection and has not answered";
  Answer answer;
  error = co_await read_record(*socket, answer);
  if (error) co_return broken(error);
  if (!verify(exchange_.session_key(), *hello, answer))
    co_return wrong("does not have this job's session key");
  const Confirm confirm = make_confirm(exchange_.session_key(), *hello, answer);
  error = co_await write_record(*socket, confirm);
  if (error) co_return broken(error);
  Welcome welcome;
  error = co_await read_record(*socket, welcome);
  if (error) co_return broken(error);
  if (!verify(exchange_.session_key(), *hello, answer, welcome))
    co_return wrong("gave a wrong proof at the end");
  settle(peer, stream, *socket, std::move(name));
  co_return Attempt{true, false, {}};
}

}  // namespace

Expected<std::vector<Connection>> meet(Exchange& exchange, std::span<ListeningSocket> listeners,
                                       std::span<const TcpDescriptor> descriptors,
                                       std::span<const Rank> peers) {
  try {
    Meeting meeting(exchange, listeners, descriptors, peers);
    if (Status status = meeting.run(); !status.ok()) return status;
    return meeting.take();
  } catch (
      const std::system_error& error) {  // Asio's constructors throw, when descriptors run out for instance
    errno = error.code().value();
    return open_failed("io_context", error.what(), peers.size() * kStreamsMax + 16);
  }
}

}  // namespace strata::tcp
