// What the engine does when something goes wrong: a communicator fails once, for good, and everywhere alike.
#include <fmt/format.h>

#include <algorithm>

#include "ccl/base/log.hpp"
#include "ccl/runtime/describe.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

constexpr std::size_t kEarlyMax = 4096;  // operations of peers remembered ahead of our own

Status left(const CommunicatorState& communicator, int index, const std::vector<Peer>& peers) {
  return {ErrorCode::aborted,
          fmt::format("{} has left the communicator: it destroyed it before this operation",
                      name_of(communicator, index, peers))};
}

}  // namespace

// What this rank was doing: part of every message about a failure that has no operation of its own.
std::string Engine::activity(const CommunicatorState& communicator) const {
  const Operation* oldest = nullptr;
  for (const std::uint32_t slot : active_) {
    const Operation& o = operations_[slot];
    if (o.communicator.get() == &communicator && (oldest == nullptr || o.number < oldest->number))
      oldest = &o;
  }
  if (oldest == nullptr) return "while no operation was in flight here";
  if (oldest->local)
    return fmt::format("during {} {} ({})",
                       operation_name(communicator, oldest->run.fingerprint, oldest->number),
                       describe(oldest->run.fingerprint), local_state(*oldest));
  return fmt::format("during {} {} ({} of {} steps done)",
                     operation_name(communicator, oldest->run.fingerprint, oldest->number),
                     describe(oldest->run.fingerprint),
                     oldest->run.plan->schedule.steps.size() - oldest->run.steps_left,
                     oldest->run.plan->schedule.steps.size());
}

void Engine::fail(CommunicatorState& communicator, const Status& why, bool tell_others) {
  if (!communicator.fail(why)) return;
  log::info("communicator {} failed: {}: {}", communicator.id, to_string(why.code()), why.message());
  if (tell_others) {
    ControlMessage message;
    message.kind = ControlMessage::Kind::abort;
    message.code = why.code();
    message.communicator = communicator.id;
    message.set_text(why.message());
    tell_members(communicator, message);
  }
  for (const auto& transport : router_->all()) transport->cancel({communicator.id});
  communicator.early.clear();
  communicator.early_holds.clear();
  communicator.early_cancelled.clear();
  forget_local(communicator);
  const std::vector<std::uint32_t> active = active_;
  for (const std::uint32_t slot : active) {
    Operation& o = operations_[slot];
    if (o.communicator.get() != &communicator) continue;
    o.run.failed = true;
    end_if_done(o);
  }
}

void Engine::tell_members(const CommunicatorState& communicator, const ControlMessage& message) {
  for (const Rank member : communicator.ranks) {
    const Peer& peer = peers_[static_cast<std::size_t>(member)];
    if (member != me_ && !peer.lost && !peer.said_goodbye) control_->send(member, message);
  }
}

std::vector<Rank> Engine::partners(const Operation& o) const {
  std::vector<Rank> partners;
  for (int i = 0; i < o.communicator->size(); ++i)
    if (i != o.communicator->me() && (o.peer == kNoRank || o.peer == i))
      partners.push_back(o.communicator->ranks[static_cast<std::size_t>(i)]);
  return partners;
}

void Engine::tell_partners(const Operation& o, const ControlMessage& message) {
  for (const Rank rank : partners(o)) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (!peer.lost && !peer.said_goodbye) control_->send(rank, message);
  }
}

void Engine::abort(const std::shared_ptr<CommunicatorState>& communicator, const Status& why) {
  command([&] {
    if (router_) fail(*communicator, why, true);
  });
}

void Engine::lose(Rank peer) {
  Peer& p = peers_[static_cast<std::size_t>(peer)];
  if (std::exchange(p.lost, true)) return;
  check_goodbyes();
  if (p.said_goodbye) return;
  const Status reason = router_->to(peer).peer_status(peer);
  std::vector<std::shared_ptr<CommunicatorState>> concerned;
  for (const auto& [id, communicator] : communicators_)
    if (communicator->index_of(peer) >= 0) concerned.push_back(communicator);
  for (const auto& communicator : concerned)
    fail(*communicator,
         {ErrorCode::peer_lost,
          fmt::format("{} was lost {}: {}", name_of(*communicator, communicator->index_of(peer), peers_),
                      activity(*communicator), reason.message())},
         true);
}

// A step with this peer cannot complete. If the peer left in order, only those who still wanted something of
// it fail.
void Engine::lost_during(const Operation& operation, Rank peer) {
  CommunicatorState& communicator = *operation.communicator;
  lose(communicator.ranks[static_cast<std::size_t>(peer)]);
  if (!communicator.failed()) fail(communicator, left(communicator, peer, peers_), true);
}

void Engine::mismatch(const Operation& o, Rank peer, const Completion& completion) {
  CommunicatorState& communicator = *o.communicator;
  if (completion.theirs != o.run.fingerprint)
    return mismatch(communicator, communicator.ranks[static_cast<std::size_t>(peer)], o.number,
                    o.run.fingerprint, completion.theirs);
  fail(communicator,
       {ErrorCode::mismatch,
        fmt::format(
            "{}: {} and {} do not agree on the length of a message ({} bytes there); all counts must match",
            operation_name(communicator, o.run.fingerprint, o.number),
            name_of(communicator, communicator.me(), peers_), name_of(communicator, peer, peers_),
            completion.their_length)},
       true);
}

void Engine::mismatch(CommunicatorState& communicator, Rank peer, std::uint64_t number,
                      const Fingerprint& ours, const Fingerprint& theirs) {
  const int index = communicator.index_of(peer);
  const std::string operation = is_point_to_point(number) || is_named(number)
                                    ? operation_name(communicator, ours, number)
                                    : fmt::format("operation #{} of the communicator", number);
  const auto side = [&](int rank, const Fingerprint& called) {
    return fmt::format("{} called {}", name_of(communicator, rank, peers_), describe(called));
  };
  std::string first = side(communicator.me(), ours), second = side(index, theirs);
  if (index < communicator.me()) first.swap(second);  // the same words, whoever finds out
  fail(communicator,
       {ErrorCode::mismatch, fmt::format("ranks disagree on {}: {}, {}", operation, first, second)}, true);
}

Status Engine::cannot_start(const Submission& s) const {
  const CommunicatorState& communicator = *s.communicator;
  if (communicator.failed()) return communicator.status();
  if (s.point_to_point()) {
    const bool gone = communicator.left_at[static_cast<std::size_t>(s.peer)] != CommunicatorState::kPresent;
    return gone ? left(communicator, s.peer, peers_) : Status{};
  }
  for (int i = 0; i < communicator.size(); ++i)
    if (communicator.left_before(i, s.number)) return left(communicator, i, peers_);
  return {};
}

// Peers may have begun this operation before us: what they called it must be what we call it.
void Engine::check_early(const Submission& s) {
  CommunicatorState& communicator = *s.communicator;
  if (communicator.early.empty()) return;
  for (std::size_t i = 0; i < communicator.early.size() && !communicator.failed(); ++i) {
    const CommunicatorState::Early early = communicator.early[i];  // a mismatch may clear them
    if (early.operation == s.number && early.theirs != s.fingerprint)
      mismatch(communicator, early.peer, s.number, s.fingerprint, early.theirs);
  }
  std::erase_if(communicator.early, [&](const auto& early) {
    return early.operation == s.number || (!is_named(s.number) && early.operation < s.number);
  });
}

Listener::Verdict Engine::unexpected(Rank peer, const Tag& tag, const Fingerprint& theirs) {
  if (tag.communicator == kControlCommunicator) return Verdict::keep;
  const auto found = communicators_.find(tag.communicator);
  if (found == communicators_.end() || found->second->failed()) return Verdict::discard;
  const auto& communicator = found->second;
  if (is_point_to_point(tag.operation)) {
    const auto& cancelled = communicator->cancelled_messages;
    const bool dead =
        std::find(cancelled.begin(), cancelled.end(), std::pair(tag.operation, peer)) != cancelled.end();
    return dead ? Verdict::discard : Verdict::keep;
  }
  if (!communicator->has_started(tag.operation)) {
    auto& early = communicator->early;
    for (const auto& known : early)
      if (known.operation == tag.operation && known.peer == peer) return Verdict::keep;
    if (early.size() < kEarlyMax) early.push_back({tag.operation, peer, theirs});
    return Verdict::keep;
  }
  const Operation* active = find(tag.communicator, tag.operation, kNoRank);
  const auto recent = communicator->recently_called(tag.operation);
  if (!active && !recent) return Verdict::discard;  // of an operation that ended long ago
  const Fingerprint ours = active ? active->run.fingerprint : *recent;
  if (ours == theirs) return active ? Verdict::keep : Verdict::discard;
  failures_.push_back([this, communicator, peer, number = tag.operation, ours, theirs] {
    mismatch(*communicator, peer, number, ours, theirs);
  });
  return Verdict::discard;
}

void Engine::apply_failures() {
  if (failures_.empty()) return;
  std::vector<std::function<void()>> failures;
  failures.swap(failures_);
  for (const auto& failure : failures) failure();
}

}  // namespace strata
