#include "ccl/bootstrap/rendezvous_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/experimental/as_tuple.hpp>
#include <utility>

#include "ccl/base/log.hpp"
#include "ccl/bootstrap/rendezvous_limits.hpp"
#include "ccl/bootstrap/rendezvous_resolve.hpp"

namespace strata::rendezvous {
namespace {

constexpr auto kAsTuple = asio::experimental::as_tuple(asio::use_awaitable);
// Ranks of one host start within milliseconds of each other, those of a cluster within seconds.
constexpr auto kFirstPause = std::chrono::microseconds(500);
constexpr auto kPauseMax = std::chrono::microseconds(100'000);
constexpr auto kConnectMax = std::chrono::seconds(3);  // a packet may be dropped in silence
// Rank 0 keeps the earliest deadline of all, and says who is missing; that message may take its time.
constexpr auto kVerdictGrace = std::chrono::seconds(1);

Status unavailable(const Connection& connection, const Status& why) {
  return {ErrorCode::unavailable,
          fmt::format("{} answers, but not as a rendezvous: {}", connection.peer(), why.message())};
}

}  // namespace

Client::Client(const Settings& settings)
    : settings_(settings),
      begin_(Clock::now()),
      deadline_(begin_ + std::chrono::milliseconds(settings.me.milliseconds_left)) {}

Status Client::join() {
  const Status status = drive(come());
  if (status.code() == ErrorCode::unauthenticated) log::error("rank {}: {}", rank(), status.message());
  return status;
}

Expected<std::vector<std::string>> Client::all_gather(std::string_view mine) {
  if (!result_.ok()) return result_;
  if (Status s = check_contribution(mine); !s.ok()) return s;
  return guarded([&]() -> Expected<std::vector<std::string>> {
    if (Status s = drive(gather(std::string(mine))); !s.ok()) return s;
    return std::exchange(gathered_, {});
  });
}

asio::awaitable<Status> Client::come() {
  asio::steady_timer pause(context_);
  auto time = kFirstPause;
  for (;;) {
    Status met = co_await reach();
    if (met.ok()) met = co_await greet();
    if (met.ok()) co_return co_await wait_for_start();
    // Whatever stands there now, rank 0 may come yet; but what rank 0 says is final.
    if (met.code() != ErrorCode::unavailable) co_return met;
    last_error_ = met;
    pause.expires_after(time);
    co_await pause.async_wait(kAsTuple);
    time = std::min(time * 3 / 2, kPauseMax);
  }
}

asio::awaitable<Status> Client::reach() {
  // Again each time: a name may get its address only when rank 0 has come.
  const auto addresses = resolve(settings_.address);
  if (!addresses) co_return addresses.status();
  all_loopback_ = std::all_of(addresses->begin(), addresses->end(), is_loopback);
  Status last;
  for (const SocketAddress& address : *addresses) {
    connection_ = std::make_shared<Connection>(Socket(context_), to_string(address));
    connection_->close_after(
        kConnectMax, {ErrorCode::unavailable, fmt::format("connect to {}: no answer", connection_->peer())});
    last = co_await connection_->connect(address);
    if (last.ok()) co_return last;
  }
  co_return last;
}

asio::awaitable<Status> Client::greet() {
  connection_->close_after(
      settings_.handshake_max,
      {ErrorCode::timeout, fmt::format("no answer within {} ms", settings_.handshake_max.count())});
  Nonces nonces;
  const auto nonce = make_nonce();
  if (!nonce) co_return nonce.status();
  nonces.client = *nonce;
  const auto first = co_await connection_->receive(kHandshakeFrameBytesMax);
  if (!first) co_return unavailable(*connection_, first.status());
  const auto* const challenge = std::get_if<Challenge>(&*first);
  if (challenge == nullptr)
    co_return unavailable(*connection_, {ErrorCode::mismatch, "it poses no challenge"});
  nonces.server = challenge->nonce;
  Introduction me = settings_.me;
  me.milliseconds_left = milliseconds_left();
  const std::string introduction = to_json(me);
  connection_->send(Hello{nonces.client, client_proof(settings_.secret, nonces, introduction), introduction});
  const auto second = co_await connection_->receive(kHandshakeFrameBytesMax);
  if (!second) co_return unavailable(*connection_, second.status());
  co_return check_welcome(*second, nonces);
}

Status Client::check_welcome(const Message& message, const Nonces& nonces) {
  if (const auto* const failure = std::get_if<Failure>(&message))
    return {failure->code, fmt::format("rank {} was refused by the rendezvous at {}: {}", rank(),
                                       connection_->peer(), failure->text)};
  const auto* const welcome = std::get_if<Welcome>(&message);
  if (welcome == nullptr) return unavailable(*connection_, {ErrorCode::mismatch, "it gives no welcome"});
  if (!same(welcome->proof, server_proof(settings_.secret, nonces, welcome->introduction)))
    return {
        ErrorCode::unauthenticated,
        fmt::format(
            "who listens at {} does not know the job's secret; STRATA_SECRET must be the same on all ranks, "
            "and each job needs a rendezvous of its own",
            connection_->peer())};
  auto server = parse_introduction(welcome->introduction);
  if (!server) return server.status();
  server_ = std::move(*server);
  connection_->keep_open();
  welcome_ = true;
  return {};
}

// The next message that is not just a report.
asio::awaitable<Expected<Message>> Client::hear() {
  for (;;) {
    auto message = co_await connection_->receive(kFrameBytesMax);
    if (!message)
      co_return Status(ErrorCode::peer_lost,
                       fmt::format("{} was lost: {}", describe(server_), message.status().message()));
    if (const auto* const failure = std::get_if<Failure>(&*message))
      co_return Status(failure->code, failure->text);
    auto* const news = std::get_if<Report>(&*message);
    if (news == nullptr) co_return message;
    last_report_ = std::move(news->text);
    log::warn("{} says: {}", describe(server_), last_report_);
  }
}

asio::awaitable<Status> Client::wait_for_start() {
  const auto message = co_await hear();
  if (!message) co_return message.status();
  const auto* const begin = std::get_if<Start>(&*message);
  if (begin == nullptr)
    co_return Status(ErrorCode::mismatch,
                     fmt::format("{} sent a {} out of turn", describe(server_), kind_of(*message)));
  key_ = rendezvous::session_key(settings_.secret, begin->session);
  begin_ = Clock::now();
  deadline_ = begin_ + std::chrono::milliseconds(settings_.me.milliseconds_left);
  co_return Status{};
}

asio::awaitable<Status> Client::gather(std::string mine) {
  connection_->send(Contribution{std::move(mine)});
  const auto expected = static_cast<std::size_t>(size());
  while (gathered_.size() < expected) {
    auto message = co_await hear();
    if (!message) co_return message.status();
    auto* const next = std::get_if<Gathered>(&*message);
    if (next == nullptr || next->parts.empty() || gathered_.size() + next->parts.size() > expected)
      co_return Status(ErrorCode::mismatch,
                       fmt::format("{} sent a {} out of turn", describe(server_), kind_of(*message)));
    std::move(next->parts.begin(), next->parts.end(), std::back_inserter(gathered_));
  }
  co_return Status{};
}

// A failure stays: nothing is driven after it, so no coroutine meets its own remains.
Status Client::drive(asio::awaitable<Status> work) {
  done_ = false;
  asio::co_spawn(context_, std::move(work), [this](const std::exception_ptr& thrown, Status status) {
    rethrow(thrown);
    result_ = std::move(status);
    done_ = true;
  });
  Clock::time_point next_report = Clock::now() + settings_.report_every;
  while (!done_) {
    run_one(context_, std::min(give_up_at(), next_report));
    if (done_) break;
    if (Clock::now() >= give_up_at()) return result_ = late();
    if (Clock::now() < next_report) continue;
    report();
    next_report += settings_.report_every;
  }
  return result_;
}

Clock::time_point Client::give_up_at() const { return welcome_ ? deadline_ + kVerdictGrace : deadline_; }

Status Client::late() const {
  const std::uint32_t waited = milliseconds_since(begin_);
  if (welcome_)
    return {ErrorCode::timeout,
            fmt::format("{} said nothing more within {} ms{}{}", describe(server_), waited,
                        last_report_.empty() ? "" : "; its last words: ", last_report_)};
  return {ErrorCode::timeout,
          fmt::format(
              "rank {} did not meet rank 0 at {} within {} ms: {}; rank 0 has not started, this is not its "
              "address, or a firewall is in the way{}",
              rank(), settings_.address_text, waited,
              last_error_.ok() ? "connect: no answer" : last_error_.message(), loopback_hint())};
}

std::string Client::loopback_hint() const {
  if (settings_.address.is_path()) return "; a path serves the ranks of one host only";
  if (!all_loopback_) return {};
  return fmt::format(
      "; on this host ({}) {} is the loopback address, so only a rank 0 of this host can be met there: with "
      "several "
      "hosts give rank 0's address in the network (and see /etc/hosts)",
      settings_.me.host, settings_.address.host);
}

void Client::report() const {
  if (welcome_) return;  // rank 0 reports
  log::warn("rank {} waits since {} s for rank 0 at {}: {}{}", rank(), milliseconds_since(begin_) / 1000,
            settings_.address_text, last_error_.message(), loopback_hint());
}

Expected<std::unique_ptr<Exchange>> join_as_client(const Settings& settings) {
  return guarded([&]() -> Expected<std::unique_ptr<Exchange>> {
    auto client = std::make_unique<Client>(settings);
    if (Status s = client->join(); !s.ok()) return s;
    return std::unique_ptr<Exchange>(std::move(client));
  });
}

}  // namespace strata::rendezvous
