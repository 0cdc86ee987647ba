// How engines talk to each other about communicators: leaving, failing, asking.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ccl/runtime/describe.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

// How long an engine that ends waits for the others to have read everything. They answer by themselves, so it
// is only ever long when one of them is stopped.
constexpr auto kGoodbye = std::chrono::seconds(2);

}  // namespace

bool Engine::add(const std::shared_ptr<CommunicatorState>& communicator) {
  bool added = false;
  command([&] { added = communicators_.emplace(communicator->id, communicator).second; });
  if (added) communicator->neighbours = neighbours_of(*communicator);
  return added;
}

void Engine::forget(std::uint32_t communicator) {
  command([&] { communicators_.erase(communicator); });
}

void Engine::leave(const std::shared_ptr<CommunicatorState>& communicator) {
  bool last = false;
  std::function<void()> farewell;
  command([&] { leave_as_owner(*communicator); });
  // The caller's buffers are his again afterwards.
  drive([&] { return communicator->active.load(std::memory_order_acquire) == 0; }, Clock::time_point::max());
  command([&] {
    communicators_.erase(communicator->id);
    communicator->local_group.reset();
    if (communicator->neighbours)
      ShmGroup::leave(*communicator->neighbours, communicator->ranks[0], communicator->me() == 0,
                      shm::kGroupKey | communicator->id);
    for (const auto& transport : router_->all()) transport->cancel({communicator->id});
    last = communicators_.empty();
    if (communicators_.size() == communicators_.count(kTraceCommunicator))
      farewell = std::exchange(farewell_, {});
    if (last) say_goodbye();
  });
  if (farewell) farewell();
  if (last) shut_down();
}

void Engine::at_the_end(std::function<void()> farewell) {
  command([&] { farewell_ = std::move(farewell); });
}

void Engine::leave_as_owner(CommunicatorState& communicator) {
  while (start_submitted()) {
  }
  if (communicator.active.load(std::memory_order_relaxed) > 0)
    fail(communicator,
         {ErrorCode::aborted,
          fmt::format("{} destroyed the communicator {}", name_of(communicator, communicator.me(), peers_),
                      activity(communicator))},
         true);
  if (communicator.failed()) return;
  ControlMessage message;
  message.communicator = communicator.id;
  message.kind = ControlMessage::Kind::leave_names;
  const std::vector<std::uint64_t> names = communicator.names.not_started();
  for (std::size_t i = 0; i < names.size(); i += ControlMessage::kNumbersMax) {
    message.set_numbers(std::span(names).subspan(i, std::min(ControlMessage::kNumbersMax, names.size() - i)));
    tell_members(communicator, message);
  }
  message.kind = ControlMessage::Kind::leave;
  message.set_text("");
  message.operation = communicator.started;
  tell_members(communicator, message);
}

void Engine::handle(Rank from, const ControlMessage& message) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  if (message.kind == ControlMessage::Kind::goodbye) {
    peer.said_goodbye = true;
    gone_while_asked(from);
    ControlMessage seen;
    seen.kind = ControlMessage::Kind::goodbye_seen;
    control_->send(from, seen);
    return check_goodbyes();
  }
  if (message.kind == ControlMessage::Kind::goodbye_seen) {
    peer.saw_goodbye = true;
    return check_goodbyes();
  }
  if (message.kind == ControlMessage::Kind::answer) return watchdog_.answered(from, message);
  const auto found = communicators_.find(message.communicator);
  if (found == communicators_.end()) {
    if (message.kind == ControlMessage::Kind::cancel_ask) refuse_to_cancel(from, message);
    return;
  }
  if (found->second->index_of(from) < 0) return;
  const auto communicator = found->second;  // stays while we fail it
  switch (message.kind) {
    case ControlMessage::Kind::abort:
      return fail(*communicator, {message.code, std::string(message.text_view())}, false);
    case ControlMessage::Kind::leave: return peer_left(*communicator, from, message.operation);
    case ControlMessage::Kind::leave_names: {
      auto& names = communicator->left_names[static_cast<std::size_t>(communicator->index_of(from))];
      for (const std::uint64_t number : message.numbers()) names[without_call(number)] = count_of(number);
      return;
    }
    case ControlMessage::Kind::probe: return answer(from, message);
    case ControlMessage::Kind::cancel_ask: return asked_to_cancel(*communicator, from, message);
    case ControlMessage::Kind::cancel_answer: {
      const Rank with = is_point_to_point(message.operation) ? communicator->index_of(from) : kNoRank;
      if (Operation* o = find(communicator->id, message.operation, with))
        answered_cancel(*o, from, message.progress == ControlMessage::Progress::running);
      return;
    }
    case ControlMessage::Kind::cancel_do:
    case ControlMessage::Kind::cancel_not: return decided_cancel(*communicator, from, message);
    default: return;
  }
}

void Engine::peer_left(CommunicatorState& communicator, Rank peer, std::uint64_t first_missed) {
  const int index = communicator.index_of(peer);
  communicator.left_at[static_cast<std::size_t>(index)] = first_missed;
  communicator.anybody_left = true;
  for (const std::uint32_t slot : active_) {
    const Operation& o = operations_[slot];
    if (o.communicator.get() != &communicator) continue;
    const bool concerned = o.peer != kNoRank ? o.peer == index : communicator.left_before(index, o.number);
    if (!concerned) continue;
    return fail(
        communicator,
        {ErrorCode::aborted, fmt::format("{} has left the communicator: it destroyed it {}",
                                         name_of(communicator, index, peers_), activity(communicator))},
        true);
  }
}

// A message counts as called a moment before it is started.
bool Engine::was_called(const CommunicatorState& communicator, std::uint64_t number, Rank peer) {
  if (!is_point_to_point(number)) return communicator.has_started(number);
  const std::uint64_t calls = communicator.calls_like(number, peer);
  return is_named(number) ? is_before(count_of(number), calls) : count_of(number) < calls;
}

void Engine::answer(Rank to, const ControlMessage& probe) {
  CommunicatorState& communicator = *communicators_.at(probe.communicator);
  ControlMessage reply;
  reply.kind = ControlMessage::Kind::answer;
  reply.communicator = probe.communicator;
  reply.operation = probe.operation;
  // What is no longer remembered has ended long ago, and well.
  reply.fingerprint = probe.fingerprint;
  if (is_point_to_point(probe.operation)) {
    const Rank asker = communicator.index_of(to);
    reply.next_operation = communicator.calls_like(probe.operation, asker);
    reply.progress = was_called(communicator, probe.operation, asker) ? ControlMessage::Progress::running
                                                                      : ControlMessage::Progress::not_started;
  } else {
    reply.next_operation = communicator.calls_like(probe.operation, kNoRank);
    const Operation* running = find(probe.communicator, probe.operation, kNoRank);
    reply.progress = !communicator.has_started(probe.operation) ? ControlMessage::Progress::not_started
                     : running                                  ? ControlMessage::Progress::running
                                                                : ControlMessage::Progress::ended;
    if (running)
      reply.fingerprint = running->run.fingerprint;
    else if (const auto recent = communicator.recently_called(probe.operation))
      reply.fingerprint = *recent;
  }
  control_->send(to, reply);
}

void Engine::say_goodbye() {
  ControlMessage message;
  message.kind = ControlMessage::Kind::goodbye;
  for (Rank peer = 0; peer < router_->size(); ++peer)
    if (peer != me_ && !peers_[static_cast<std::size_t>(peer)].lost) control_->send(peer, message);
  check_goodbyes();
}

// A peer that is ending too need not answer: its goodbye came after all it sent.
void Engine::check_goodbyes() {
  if (!communicators_.empty()) return;
  for (Rank r = 0; r < router_->size(); ++r) {
    const Peer& p = peers_[static_cast<std::size_t>(r)];
    if (r != me_ && !p.lost && !p.saw_goodbye) return;
  }
  goodbyes_done_.store(true, std::memory_order_release);
  driver_->ended();
}

void Engine::shut_down() {
  drive([this] { return goodbyes_done_.load(std::memory_order_acquire); }, Clock::now() + kGoodbye);
  driver_->stop();
  command([this] {
    neighbours_ = nullptr;
    router_.reset();
  });
}

}  // namespace strata
