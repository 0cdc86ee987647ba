// Small collectives within a host that are over before their call returns: no hand-over, no allocation, no
// plan.
#include <bit>
#include <thread>

#include "ccl/base/pause_core.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

// A microsecond or two; where cores are shared, so many times the core goes to whoever else is waiting for
// it.
constexpr int kTriesAtOnce = 64, kYieldsAtOnce = 16;
constexpr int kTriesBeforeWaking = 4;  // at others; fewer than either of the above
constexpr std::uint32_t kCallsPerTurn = 64;

}  // namespace

// Whatever has come while all calls were done at once gets its turn now and then.
void Engine::look_round() {
  if (router_ && ++at_once_ % kCallsPerTurn == 0) turn(Clock::now());
}

// Not while other operations need the engine.
bool Engine::may_begin_at_once(const CommunicatorState& c) {
  look_round();
  return router_ && active_.empty() && c.local_queue.empty() && c.early.empty() && c.early_holds.empty() &&
         c.early_cancelled.empty() && !c.failed() && !c.anybody_left;
}

std::optional<Work> Engine::try_at_once(const std::shared_ptr<CommunicatorState>& communicator,
                                        const Call& call, const CallOptions& options) {
  CommunicatorState& c = *communicator;
  const auto checked = check(c, call, options);
  if (!checked) return Work(checked.status());
  const Fingerprint fingerprint = plain_fingerprint(call, options);
  const std::uint64_t element = size_of(call.type);
  const GroupCall group_call{.collective = call.collective,
                             .input = static_cast<const std::byte*>(call.input),
                             .output = static_cast<std::byte*>(call.output),
                             .in_place = checked->in_place,
                             .count_bytes = call.count * element,
                             .element_bytes = element,
                             .root = call.root,
                             .reduce = reduce_many_kernel(call.type, call.op),
                             .scale = checked->scale,
                             .mark = std::bit_cast<CallMark>(fingerprint)};
  std::optional<Work> work;
  const std::uint64_t since = observer_.now();
  driver_->try_as_owner([&] {
    if (!may_begin_at_once(c)) return;
    // The next number, unless calls are on their way that have not been started.
    std::uint64_t number = c.started;
    if (!c.next_operation.compare_exchange_strong(number, number + 1)) return;
    c.started = number + 1;
    c.recent[number % CommunicatorState::kRecentOperations] = fingerprint;
    if (!c.local_group) make_group(c);
    c.local_group->begin(group_call);
    if (!advance_at_once(*c.local_group)) {
      work = finish_later(communicator, call, options, number);
      return;
    }
    if (!c.local_group->tidy()) untidy_.push_back(c.id);
    observer_.at_once(call.collective, c, number, kNoRank, group_call.count_bytes, since);
    work = Work();
  });
  return work;
}

// For as long as it takes when nobody is late.
bool Engine::advance_at_once(ShmGroup& group) const {
  const bool yields = driver_->yields();
  for (int i = 0; i < (yields ? kYieldsAtOnce : kTriesAtOnce); ++i) {
    // Looking for sleepers costs as much as the rest, and as a rule nobody sleeps.
    const ShmGroup::Progress progress = group.advance(i >= kTriesBeforeWaking);
    if (progress == ShmGroup::Progress::ended) return true;
    if (progress == ShmGroup::Progress::mismatch || progress == ShmGroup::Progress::failed) return false;
    yields ? std::this_thread::yield() : pause_core();
  }
  return false;
}

std::unique_ptr<Submission> Engine::numbered(const std::shared_ptr<CommunicatorState>& communicator,
                                             const Call& call, const CallOptions& options,
                                             std::uint64_t number) {
  std::unique_ptr<Submission> s = *prepare(communicator, call, options);
  s->number = number;
  s->work = std::make_shared<WorkState>(shared_from_this());
  s->work->deadline = s->deadline;
  observer_.submitted(*s);
  return s;
}

// Somebody is late: what has been begun becomes an operation like any other.
Work Engine::finish_later(const std::shared_ptr<CommunicatorState>& communicator, const Call& call,
                          const CallOptions& options, std::uint64_t number) {
  std::unique_ptr<Submission> s = numbered(communicator, call, options, number);
  Work work(s->work);
  now_ = Clock::now();
  Operation& o = new_operation(*s);
  executor_->start(o.run);
  queue_local(o, std::move(s));
  o.group_at_work = true;
  return work;
}

}  // namespace strata
