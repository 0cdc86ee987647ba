// Cancelling an operation on all its ranks, or on none. Whoever wants it asks the others to hold it: one on
// hold issues nothing new and does not end. If all hold it, none has ended it, and it ends as cancelled
// everywhere; if one has ended it, it goes on everywhere. A rank may hold what it has not been told to start
// yet. Any number of ranks may ask at once: what is on hold for several goes on only when all of them have
// said so. tests/model/cancel.pml is this protocol's model.
#include <fmt/format.h>

#include <algorithm>

#include "ccl/runtime/describe.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

ControlMessage message_about(ControlMessage::Kind kind, const CommunicatorState& c, std::uint64_t number) {
  ControlMessage message;
  message.kind = kind;
  message.communicator = c.id;
  message.operation = number;
  return message;
}

// As the rank that has got it from `from` calls the other one of a message.
Rank peer_of(const CommunicatorState& c, std::uint64_t number, Rank from) {
  return is_point_to_point(number) ? c.index_of(from) : kNoRank;
}

}  // namespace

void Engine::cancel(const std::shared_ptr<WorkState>& work) {
  command([&] {
    while (start_submitted()) {
    }
    for (const std::uint32_t slot : active_) {
      Operation& o = operations_[slot];
      if (o.work != work) continue;
      const CommunicatorState& c = *o.communicator;
      return ask_to_cancel(
          o, {ErrorCode::cancelled,
              fmt::format("{} {} was cancelled by {}", operation_name(c, o.run.fingerprint, o.number),
                          describe(o.run.fingerprint), name_of(c, c.me(), peers_))});
    }
  });
}

void Engine::deadline_passed(Operation& o) {
  o.deadline = Clock::time_point::max();
  const CommunicatorState& c = *o.communicator;
  ask_to_cancel(
      o, {ErrorCode::timeout, fmt::format("{} {} had not ended at its deadline at {} and was cancelled",
                                          operation_name(c, o.run.fingerprint, o.number),
                                          describe(o.run.fingerprint), name_of(c, c.me(), peers_))});
}

// What the group of a host has begun, its members cannot stop one by one.
bool Engine::may_hold(const Operation& o) { return !o.group_at_work; }

void Engine::ask_to_cancel(Operation& o, const Status& why) {
  const CommunicatorState& c = *o.communicator;
  if (o.run.failed || o.asking || !may_hold(o) || o.peer == c.me()) return;
  o.unanswered = partners(o);
  ++o.holds;
  o.run.held = true;
  o.asking = true;
  o.refused = false;
  o.why = why;
  tell_partners(o, message_about(ControlMessage::Kind::cancel_ask, c, o.number));
  for (const Rank rank : partners(o)) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (peer.lost || peer.said_goodbye) answered_cancel(o, rank, false);
  }
}

void Engine::asked_to_cancel(CommunicatorState& c, Rank from, const ControlMessage& question) {
  if (c.failed()) return;
  while (start_submitted()) {
  }
  ControlMessage reply = message_about(ControlMessage::Kind::cancel_answer, c, question.operation);
  reply.progress = hold(c, question.operation, peer_of(c, question.operation, from), from)
                       ? ControlMessage::Progress::running
                       : ControlMessage::Progress::ended;
  control_->send(from, reply);
}

// This rank has left the communicator, and so had ended what it was needed for.
void Engine::refuse_to_cancel(Rank from, const ControlMessage& question) {
  ControlMessage reply = question;
  reply.kind = ControlMessage::Kind::cancel_answer;
  reply.progress = ControlMessage::Progress::ended;
  control_->send(from, reply);
}

bool Engine::hold(CommunicatorState& c, std::uint64_t number, Rank peer, Rank asker) {
  if (Operation* o = find(c.id, number, peer)) {
    if (!may_hold(*o) || o->run.failed) return false;
    ++o->holds;
    o->run.held = true;
    return true;
  }
  for (const auto& cancelled : c.early_cancelled)
    if (cancelled.number == number && cancelled.peer == peer) return true;  // the asker will hear of it
  if (was_called(c, number, peer)) return false;
  c.early_holds.push_back({number, peer, asker});
  return true;
}

void Engine::answered_cancel(Operation& o, Rank from, bool holds) {
  if (!o.asking || o.run.failed || std::erase(o.unanswered, from) == 0) return;
  o.refused = o.refused || !holds;
  if (o.unanswered.empty()) decide_cancel(o);
}

// Whoever has left a communicator took its part in what the others still do.
void Engine::gone_while_asked(Rank peer) {
  const std::vector<std::uint32_t> active = active_;
  for (const std::uint32_t slot : active)
    if (operations_[slot].active) answered_cancel(operations_[slot], peer, false);
}

void Engine::decide_cancel(Operation& o) {
  const auto kind = o.refused ? ControlMessage::Kind::cancel_not : ControlMessage::Kind::cancel_do;
  ControlMessage decision = message_about(kind, *o.communicator, o.number);
  decision.code = o.why.code();
  decision.set_text(o.why.message());
  tell_partners(o, decision);
  o.asking = false;
  o.refused ? let_go(o) : cancel_here(o, o.why);
}

void Engine::decided_cancel(CommunicatorState& c, Rank from, const ControlMessage& decision) {
  const std::uint64_t number = decision.operation;
  const Rank peer = peer_of(c, number, from);
  const bool cancelled = decision.kind == ControlMessage::Kind::cancel_do;
  const Status why(decision.code, std::string(decision.text_view()));
  if (Operation* o = find(c.id, number, peer)) {
    if (o->run.failed) return;
    return cancelled ? cancel_here(*o, why) : let_go(*o);
  }
  const auto held = std::erase_if(c.early_holds, [&](const auto& hold) {
    return hold.number == number && hold.peer == peer && (cancelled || hold.asker == from);
  });
  if (cancelled && held > 0) c.early_cancelled.push_back({number, peer, why});
}

void Engine::let_go(Operation& o) {
  if (o.holds == 0 || --o.holds > 0) return;
  executor_->resume(o.run);
  if (o.local && o.communicator->local_queue.front() == o.run.slot && !o.group_at_work)
    begin_local(*o.communicator);
  end_if_done(o);
}

void Engine::cancel_here(Operation& o, const Status& why) {
  o.cancelled = why;
  o.run.failed = true;
  if (o.local)
    unqueue_local(o);
  else
    forget_messages(*o.communicator, o.number, o.peer);
  end_if_done(o);
}

// Those that have come, and those that still will.
void Engine::forget_messages(const CommunicatorState& c, std::uint64_t number, Rank peer) {
  const Rank with = peer == kNoRank ? kNoRank : c.ranks[static_cast<std::size_t>(peer)];
  if (peer != kNoRank) {
    auto& cancelled = communicators_.at(c.id)->cancelled_messages;
    if (cancelled.size() == CommunicatorState::kCancelledMessagesMax) cancelled.pop_front();
    cancelled.emplace_back(number, with);
  }
  for (const auto& transport : router_->all()) transport->cancel({c.id, number, with});
}

bool Engine::cancelled_early(Submission& s) {
  auto& early = s.communicator->early_cancelled;
  const auto found = std::find_if(early.begin(), early.end(), [&](const auto& cancelled) {
    return cancelled.number == s.number && cancelled.peer == s.peer;
  });
  if (found == early.end()) return false;
  observer_.refused(s, found->why.code());
  ended_.push_back({std::move(s.work), found->why});
  early.erase(found);
  forget_messages(*s.communicator, s.number, s.peer);
  return true;
}

void Engine::hold_early(Operation& o) {
  auto& early = o.communicator->early_holds;
  if (early.empty()) return;
  o.holds = static_cast<std::uint32_t>(
      std::erase_if(early, [&](const auto& hold) { return hold.number == o.number && hold.peer == o.peer; }));
  o.run.held = o.holds > 0;
}

}  // namespace strata
