#include "ccl/bootstrap/rendezvous_door.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/experimental/as_tuple.hpp>
#include <utility>

#include "ccl/base/log.hpp"

namespace strata::rendezvous {
namespace {

constexpr auto kAsTuple = asio::experimental::as_tuple(asio::use_awaitable);
constexpr std::size_t kStrangersMax = 256;  // connections that have proven nothing; then the oldest goes
constexpr std::uint32_t kRefusalsLoggedMax = 32;
constexpr auto kAcceptPause = std::chrono::milliseconds(50);

}  // namespace

Door::Door(asio::io_context& context, const Settings& settings, ListeningSocket socket, Admit admit)
    : context_(context),
      settings_(settings),
      admit_(std::move(admit)),
      where_(socket.where),
      loopback_(socket.loopback),
      path_(std::move(socket.path)),
      acceptor_(context, asio::generic::stream_protocol(socket.family, 0), socket.fd.get()) {
  socket.fd.release();
}

void Door::open() { asio::co_spawn(context_, accept_all(), rethrow); }

void Door::close() {
  asio::error_code ignored;
  acceptor_.close(ignored);
  path_ = BoundPath();
}

bool Door::drained() const {
  return std::all_of(strangers_.begin(), strangers_.end(), [](const auto& weak) {
    const auto stranger = weak.lock();
    return !stranger || stranger->drained();
  });
}

asio::awaitable<void> Door::accept_all() {
  asio::steady_timer pause(context_);
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(kAsTuple);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      log::warn(
          "the rendezvous at {} cannot accept a connection and goes on trying: {}; if these are too many "
          "open "
          "files, raise ulimit -n",
          where_, error.message());
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kAsTuple);
      continue;
    }
    std::string peer = describe_peer(socket);
    const auto connection = std::make_shared<Connection>(std::move(socket), std::move(peer));
    remember(connection);
    asio::co_spawn(context_, serve(connection), rethrow);
  }
}

void Door::remember(const std::shared_ptr<Connection>& stranger) {
  strangers_.remove_if([](const auto& weak) { return weak.expired(); });
  if (strangers_.size() >= kStrangersMax) {
    if (const auto oldest = strangers_.front().lock())
      oldest->close({ErrorCode::unavailable, "there were too many connections that proved nothing"});
    strangers_.pop_front();
  }
  strangers_.push_back(stranger);
  const auto most = settings_.handshake_max;
  stranger->close_after(most,
                        {ErrorCode::timeout, fmt::format("it proved nothing within {} ms", most.count())});
}

void Door::forget(const std::shared_ptr<Connection>& stranger) {
  strangers_.remove_if([&](const auto& weak) { return weak.lock() == stranger; });
  stranger->keep_open();
}

asio::awaitable<void> Door::serve(std::shared_ptr<Connection> connection) {
  const auto who = co_await authenticate(connection);
  Status verdict = who.status();
  if (verdict.ok()) verdict = admit_(connection, *who);
  if (verdict.ok()) co_return forget(connection);
  log_refusal(*connection, verdict);
  connection->send(Failure{verdict.code(), std::string(verdict.message())});
  connection->finish();
  // Until the other side has read it and closes too, or finish() has waited long enough.
  while ((co_await connection->receive(kHandshakeFrameBytesMax)).ok()) continue;
}

asio::awaitable<Expected<Introduction>> Door::authenticate(const std::shared_ptr<Connection>& connection) {
  Nonces nonces;
  const auto nonce = make_nonce();
  if (!nonce) co_return nonce.status();
  nonces.server = *nonce;
  connection->send(Challenge{nonces.server});
  const auto message = co_await connection->receive(kHandshakeFrameBytesMax);
  if (!message) co_return message.status();
  const Hello* const hello = std::get_if<Hello>(&*message);
  if (hello == nullptr) co_return Status(ErrorCode::mismatch, "it does not speak as a rank does");
  nonces.client = hello->nonce;
  if (!same(hello->proof, client_proof(settings_.secret, nonces, hello->introduction)))
    co_return Status(
        ErrorCode::unauthenticated,
        fmt::format("its secret is not that of the job at {}; STRATA_SECRET must be the same on all ranks "
                    "of a job, and each job needs a rendezvous of its own",
                    settings_.address_text));
  auto who = parse_introduction(hello->introduction);
  if (!who) co_return who;
  const std::string introduction = to_json(settings_.me);
  connection->send(Welcome{server_proof(settings_.secret, nonces, introduction), introduction});
  co_return who;
}

void Door::log_refusal(const Connection& connection, const Status& why) {
  if (refusals_ >= kRefusalsLoggedMax) return;
  ++refusals_;
  log::warn("the rendezvous at {} refused {}: {}{}", where_, connection.peer(), why.message(),
            refusals_ == kRefusalsLoggedMax ? "; further ones are not logged" : "");
}

}  // namespace strata::rendezvous
