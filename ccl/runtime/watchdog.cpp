#include "ccl/runtime/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ccl/runtime/describe.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTickMin{1}, kTickMax{500};
constexpr std::uint32_t kFirstProbeMs = 1000;

milliseconds tick(std::uint32_t timeout_ms) {
  return std::clamp(milliseconds(timeout_ms / 8), kTickMin, kTickMax);
}

}  // namespace

void Watchdog::watch(std::uint32_t timeout_ms, Clock::time_point now) {
  next_check_ = std::min(next_check_, now + tick(timeout_ms));
}

void Watchdog::watch(Clock::time_point deadline) { next_check_ = std::min(next_check_, deadline); }

void Watchdog::progressed(Operation& o, Clock::time_point now) {
  o.last_progress = now;
  o.next_probe_ms = std::min(o.timeout_ms / 2, kFirstProbeMs);
}

void Watchdog::check(Clock::time_point now) {
  next_check_ = Clock::time_point::max();
  std::erase_if(questions_, [&](const Question& q) {
    const Operation* o = engine_.find(q.communicator, q.operation, q.peer);
    return o == nullptr || o->next_probe_ms == std::min(o->timeout_ms / 2, kFirstProbeMs);
  });
  const std::vector<std::uint32_t> active = engine_.active_;
  for (const std::uint32_t slot : active) {
    Operation& o = engine_.operations_[slot];
    if (!o.active || o.run.failed) continue;
    if (now >= o.deadline) engine_.deadline_passed(o);
    if (!o.active) continue;
    next_check_ = std::min(next_check_, o.deadline);
    if (o.timeout_ms == 0) continue;
    watch(o.timeout_ms, now);
    const auto still = now - o.last_progress;
    if (still >= milliseconds(o.timeout_ms))
      engine_.fail(*o.communicator, verdict(o), true);
    else if (still >= milliseconds(o.next_probe_ms))
      probe(o);
  }
}

void Watchdog::probe(Operation& o) {
  o.next_probe_ms = o.next_probe_ms < o.timeout_ms / 2 ? o.timeout_ms / 2 : o.timeout_ms;
  std::erase_if(questions_, [&](const Question& q) { return q.is_about(o); });
  questions_.push_back({o.communicator->id, o.number, o.peer, {}});
  ControlMessage message;
  message.kind = ControlMessage::Kind::probe;
  message.communicator = o.communicator->id;
  message.operation = o.number;
  message.fingerprint = o.run.fingerprint;
  engine_.tell_partners(o, message);
}

void Watchdog::answered(Rank peer, const ControlMessage& answer) {
  const auto found = engine_.communicators_.find(answer.communicator);
  if (found == engine_.communicators_.end()) return;
  const Rank with = is_point_to_point(answer.operation) ? found->second->index_of(peer) : kNoRank;
  Operation* o = engine_.find(answer.communicator, answer.operation, with);
  if (o == nullptr || o->run.failed) return;
  const bool called = answer.progress != ControlMessage::Progress::not_started;
  if (called && o->peer == kNoRank && answer.fingerprint != o->run.fingerprint)
    return engine_.mismatch(*o->communicator, peer, o->number, o->run.fingerprint, answer.fingerprint);
  for (Question& q : questions_)
    if (q.is_about(*o)) q.answers.emplace_back(peer, answer);
}

Status Watchdog::verdict(const Operation& o) const {
  return {ErrorCode::timeout,
          fmt::format("{} {} made no progress for {} ms: {} {}",
                      operation_name(*o.communicator, o.run.fingerprint, o.number),
                      describe(o.run.fingerprint), o.timeout_ms, who_is_late(o), where(o))};
}

std::string Watchdog::who_is_late(const Operation& o) const {
  const CommunicatorState& c = *o.communicator;
  const auto question =
      std::find_if(questions_.begin(), questions_.end(), [&](const Question& q) { return q.is_about(o); });
  std::string text;
  for (int i = 0; i < c.size(); ++i) {
    if (i == c.me() || question == questions_.end() || (o.peer != kNoRank && i != o.peer)) continue;
    const auto& answers = question->answers;
    const auto answer = std::find_if(answers.begin(), answers.end(), [&](const auto& a) {
      return a.first == c.ranks[static_cast<std::size_t>(i)];
    });
    const std::string name = name_of(c, i, engine_.peers_);
    using Progress = ControlMessage::Progress;
    if (answer == answers.end())
      text +=
          fmt::format("{} does not answer (its process is stopped or its host cannot be reached); ", name);
    else if (answer->second.progress == Progress::not_started)
      text += o.peer != kNoRank    ? fmt::format("{} has not called its side of it; ", name)
              : is_named(o.number) ? fmt::format("{} has not called it, only {} of its name before; ", name,
                                                 answer->second.next_operation)
                                   : fmt::format("{} has not called it, only {} operations before; ", name,
                                                 answer->second.next_operation);
  }
  if (text.empty()) return "all ranks are in it";
  return text.substr(0, text.size() - 2);  // without the last separator
}

// The first step on the wire says whom this rank waits for.
std::string Watchdog::where(const Operation& o) const {
  if (o.local) return fmt::format("(seen by rank {} {})", o.communicator->me(), engine_.local_state(o));
  const auto& steps = o.run.plan->schedule.steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!o.run.on_wire[i]) continue;
    const Step& s = steps[i];
    return fmt::format("(seen by rank {} in step {} of {}: {} {} bytes {} rank {})", o.communicator->me(),
                       i + 1, steps.size(), s.op == Op::send ? "sending" : "receiving", s.length,
                       s.op == Op::send ? "to" : "from", s.peer);
  }
  return fmt::format("(seen by rank {})", o.communicator->me());
}

}  // namespace strata
