#include "ccl/bootstrap/rendezvous_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ccl/base/log.hpp"
#include "ccl/bootstrap/rendezvous_limits.hpp"
#include "ccl/bootstrap/rendezvous_secret.hpp"

namespace strata::rendezvous {
namespace {

constexpr auto kLastWordsMax = std::chrono::seconds(1);

}  // namespace

Server::Server(const Settings& settings, ListeningSocket socket)
    : settings_(settings),
      door_(context_, settings_, std::move(socket),
            [this](const auto& connection, const Introduction& who) { return admit(connection, who); }),
      roll_(settings.me.size),
      members_(static_cast<std::size_t>(settings.me.size)),
      begin_(Clock::now()),
      deadline_(begin_ + std::chrono::milliseconds(settings.me.milliseconds_left)) {
  roll_.add(settings.me);
}

Status Server::join() {
  log::debug("rank 0 waits for {} ranks at {}", size(), door_.where());
  if (settings_.secret.empty() && !door_.loopback())
    log::info("the job has no secret: whoever reaches {} may join; STRATA_SECRET would prevent it",
              door_.where());
  door_.open();
  if (roll_.complete()) start();
  drive();
  door_.close();
  return failure_;
}

std::uint32_t Server::milliseconds_left() const { return rendezvous::milliseconds_left(deadline_); }

Expected<std::vector<std::string>> Server::all_gather(std::string_view mine) {
  if (!failure_.ok()) return failure_;
  if (Status s = check_contribution(mine); !s.ok()) return s;
  return guarded([&]() -> Expected<std::vector<std::string>> {
    members_[0].contribution = mine;
    gathering_ = true, done_ = false, begin_ = Clock::now();
    gather_if_complete();
    drive();
    if (!failure_.ok()) return failure_;
    return std::exchange(gathered_, {});
  });
}

Status Server::admit(const std::shared_ptr<Connection>& connection, const Introduction& who) {
  if (Status verdict = judge(roll_, settings_.me, who, settings_.address_text); !verdict.ok()) {
    // A job that is complete does not end because a stranger to it comes late.
    if (!started_) fail(verdict);
    return verdict;
  }
  if (done_) return failure_;
  roll_.add(who);
  members_[static_cast<std::size_t>(who.rank)].connection = connection;
  log::debug("{} came to the rendezvous from {}", describe(who), connection->peer());
  // A rank that would give up before rank 0 does would take the job with it; so all hear of it in time.
  deadline_ = std::min(deadline_, Clock::now() + std::chrono::milliseconds(who.milliseconds_left));
  asio::co_spawn(context_, attend(who.rank), rethrow);
  if (roll_.complete()) start();
  return {};
}

// Reads what the rank says until it has gone.
asio::awaitable<void> Server::attend(int rank) {
  Member& member = members_[static_cast<std::size_t>(rank)];
  const auto connection = member.connection;
  for (;;) {
    auto message = co_await connection->receive(kFrameBytesMax);
    if (!message) co_return lose(rank, message.status());
    auto* const contribution = std::get_if<Contribution>(&*message);
    if (contribution == nullptr || !started_ || member.contribution)
      co_return lose(rank, {ErrorCode::mismatch, fmt::format("it sent a {} out of turn", kind_of(*message))});
    member.contribution = std::move(contribution->bytes);
    gather_if_complete();
  }
}

void Server::lose(int rank, const Status& why) {
  Member& member = members_[static_cast<std::size_t>(rank)];
  const std::string who = describe(*roll_.at(rank));
  member.lost = {
      ErrorCode::peer_lost,
      fmt::format("{} was lost while the ranks were {}: {}", who,
                  started_ ? "exchanging addresses" : "gathering at the rendezvous", why.message())};
  member.connection->finish();
  if (!started_) return fail(member.lost);
  gather_if_complete();
}

void Server::start() {
  const auto session = make_nonce();
  if (!session) return fail(session.status());
  key_ = rendezvous::session_key(settings_.secret, *session);
  broadcast(encode(Start{*session}));
  started_ = done_ = true;
  // The time to come has been used; now there is the same again to connect.
  deadline_ = Clock::now() + std::chrono::milliseconds(settings_.me.milliseconds_left);
}

void Server::gather_if_complete() {
  if (!gathering_ || done_) return;
  bool complete = true;
  for (const Member& member : members_) {
    if (member.contribution) continue;
    complete = false;
    if (!member.lost.ok()) return fail(member.lost);
  }
  if (!complete) return;
  for (Member& member : members_) {
    gathered_.push_back(std::move(*member.contribution));
    member.contribution.reset();
  }
  for (const std::string& frame : encode_gathered(gathered_)) broadcast(frame);
  gathering_ = false, done_ = true;
}

void Server::fail(Status why) {
  if (!failure_.ok()) return;
  failure_ = std::move(why);
  broadcast(encode(Failure{failure_.code(), std::string(failure_.message())}));
  for (const Member& member : members_)
    if (member.connection) member.connection->finish();
  gathering_ = false, done_ = true;
}

void Server::broadcast(const std::string& frame) {
  const auto shared = std::make_shared<const std::string>(frame);
  for (const Member& member : members_)
    if (member.connection) member.connection->send(shared);
}

void Server::drive() {
  Clock::time_point next_report = Clock::now() + settings_.report_every;
  while (!done_) {
    run_one(context_, std::min(deadline_, next_report));
    if (!done_ && Clock::now() >= deadline_)
      fail({ErrorCode::timeout,
            fmt::format("the deadline passed after {} ms: {}", milliseconds_since(begin_), waiting_for())});
    if (done_ || Clock::now() < next_report) continue;
    report();
    next_report += settings_.report_every;
  }
  flush();
}

// What has been said must be out before nobody drives the context any more.
void Server::flush() {
  const auto end = failure_.ok() ? deadline_ : Clock::now() + kLastWordsMax;
  const auto drained = [](const Member& m) { return !m.connection || m.connection->drained(); };
  const auto all_told = [&] {
    return door_.drained() && std::all_of(members_.begin(), members_.end(), drained);
  };
  while (!all_told() && Clock::now() < end) run_one(context_, end);
  if (!failure_.ok() || all_told()) return;
  std::string deaf;
  for (int rank = 1; rank < size(); ++rank)
    if (!drained(members_[static_cast<std::size_t>(rank)]))
      deaf += (deaf.empty() ? "" : ", ") + describe(*roll_.at(rank));
  fail({ErrorCode::timeout,
        fmt::format("the deadline passed, and this does not take what it is sent: {}", deaf)});
}

std::string Server::waiting_for() const {
  const std::string_view hint = door_.loopback() ? "; only ranks of this host can come there" : "";
  if (!started_) return fmt::format("rendezvous at {}: {}{}", settings_.address_text, roll_.describe(), hint);
  std::string text;
  for (int rank = 0; rank < size(); ++rank)
    if (!members_[static_cast<std::size_t>(rank)].contribution)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", describe(*roll_.at(rank)));
  return fmt::format("exchanging addresses: waiting for {}", text);
}

void Server::report() {
  const std::string text =
      fmt::format("waiting since {} s, {}", milliseconds_since(begin_) / 1000, waiting_for());
  log::warn("{}", text);
  broadcast(encode(Report{text}));
}

Expected<std::unique_ptr<Exchange>> join_as_server(const Settings& settings) {
  return guarded([&]() -> Expected<std::unique_ptr<Exchange>> {
    if (Status s = check_descriptor_limit(settings.me.size); !s.ok()) return s;
    auto socket = listen_at(settings.address);
    if (!socket) return socket.status();
    auto server = std::make_unique<Server>(settings, std::move(*socket));
    if (Status s = server->join(); !s.ok()) return s;
    return std::unique_ptr<Exchange>(std::move(server));
  });
}

}  // namespace strata::rendezvous
