// Small messages that need no operation: sent within the call, or taken from the wire by whoever waits.
#include <thread>

#include "ccl/base/pause_core.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

// A few microseconds, and more where a look at the wire is a system call; where cores are shared, so many
// times the core goes to whoever else is waiting for it.
constexpr int kLooks = 128, kLooksYielding = 16;
constexpr std::uint32_t kOnlyMessage = 0;  // the number of the only step of its schedule

WireOp message_of(const CommunicatorState& communicator, Rank peer, std::uint64_t number,
                  const Fingerprint& fingerprint) {
  WireOp op;
  op.peer = communicator.ranks[static_cast<std::size_t>(peer)];
  op.tag = {.operation = number, .communicator = communicator.id, .message = kOnlyMessage};
  op.fingerprint = fingerprint;
  op.length = fingerprint.count * size_of(static_cast<DataType>(fingerprint.type));
  return op;
}

// Nothing at all is sent for no bytes.
bool fits_at_once(const Transport& transport, std::uint64_t bytes) {
  return bytes > 0 && bytes <= transport.capabilities().at_once_bytes_max;
}

}  // namespace

std::optional<Work> Engine::try_send_at_once(const std::shared_ptr<CommunicatorState>& communicator,
                                             const Call& call, const CallOptions& options) {
  CommunicatorState& c = *communicator;
  const auto checked = check(c, call, options);
  if (!checked) return Work(checked.status());
  WireOp op = message_of(c, call.root, 0, plain_fingerprint(call, options));
  op.data = static_cast<std::byte*>(const_cast<void*>(call.input));
  std::optional<Work> work;
  driver_->try_as_owner([&] {
    look_round();
    if (!router_ || c.failed() || c.anybody_left || !fits_at_once(router_->to(op.peer), op.length)) return;
    op.tag.operation = kPointToPoint | c.next_send[static_cast<std::size_t>(call.root)]++;
    work = router_->to(op.peer).try_at_once(op) ? Work()
                                                : send_later(communicator, call, options, op.tag.operation);
  });
  return work;
}

// It has its number, so it cannot go the usual way any more.
Work Engine::send_later(const std::shared_ptr<CommunicatorState>& communicator, const Call& call,
                        const CallOptions& options, std::uint64_t number) {
  std::unique_ptr<Submission> s = *prepare(communicator, call, options);
  s->number = number;
  s->work = std::make_shared<WorkState>(shared_from_this());
  Work work(s->work);
  now_ = Clock::now();
  start(std::move(s));
  return work;
}

void Engine::receive_at_once(const WorkState& work) {
  driver_->try_as_owner([&] {
    look_round();
    now_ = Clock::now();
    Submission* raw = nullptr;
    while (router_ && submissions_.try_pop(raw)) {
      std::unique_ptr<Submission> s(raw);
      if (s->work.get() != &work || !receive_now(*s)) {
        start(std::move(s));
        continue;
      }
      // Nothing but the work knows of it; callbacks may start operations.
      s->work->end({});
      return;
    }
  });
}

// The message of one that has not been started: nothing is known of it here but its submission.
bool Engine::receive_now(const Submission& s) {
  const CommunicatorState& c = *s.communicator;
  WireOp op = message_of(c, s.peer, s.number, s.fingerprint);
  Transport& transport = router_->to(op.peer);
  if (!active_.empty() || c.failed() || c.anybody_left || !fits_at_once(transport, op.length)) return false;
  op.kind = WireKind::recv;
  op.data = static_cast<std::byte*>(s.output);
  const bool yields = driver_->yields();
  for (int i = 0; i < (yields ? kLooksYielding : kLooks) && submissions_.empty() && commands_.empty(); ++i) {
    if (transport.try_at_once(op)) return true;
    yields ? std::this_thread::yield() : pause_core();
  }
  return false;
}

}  // namespace strata
