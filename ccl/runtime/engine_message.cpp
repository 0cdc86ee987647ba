// Small messages that nobody is late for: sent within the call, or moved by whoever waits, and never posted.
#include <thread>

#include "ccl/base/pause_core.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

// A few microseconds, and more where a look at the wire is a system call; where cores are shared, so many
// times the core goes to whoever else is waiting for it.
constexpr int kLooks = 128, kLooksYielding = 16;
constexpr std::size_t kWiresLookedAtMax = 3;
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
  const std::uint64_t since = observer_.now();
  driver_->try_as_owner([&] {
    look_round();
    if (!router_ || c.failed() || c.anybody_left || !fits_at_once(router_->to(op.peer), op.length)) return;
    if (!c.early_holds.empty() || !c.early_cancelled.empty()) return;
    op.tag.operation = message_bits(c.me(), call.root) | c.next_send[static_cast<std::size_t>(call.root)]++;
    const bool sent = router_->to(op.peer).try_at_once(op);
    if (sent) observer_.at_once(Collective::send, c, op.tag.operation, op.peer, op.length, since);
    work = sent ? Work() : send_later(communicator, call, options, op.tag.operation);
  });
  return work;
}

Work Engine::send_later(const std::shared_ptr<CommunicatorState>& communicator, const Call& call,
                        const CallOptions& options, std::uint64_t number) {
  std::unique_ptr<Submission> s = numbered(communicator, call, options, number);
  Work work(s->work);
  now_ = Clock::now();
  start(std::move(s));
  return work;
}

void Engine::begin_waiting(const WorkState& work) {
  driver_->try_as_owner([&] {
    look_round();
    now_ = Clock::now();
    Submission* raw = nullptr;
    while (router_ && submissions_.try_pop(raw)) {
      std::unique_ptr<Submission> s(raw);
      const bool alone = s->work.get() == &work && !s->local && may_be_alone();
      if (!alone)
        start(std::move(s));
      else if (s->direction == Collective::recv && receive_now(*s))
        s->work->end({});  // nothing else knows of it
      else
        run_now(*s);
    }
  });
}

bool Engine::may_be_alone() const { return active_.empty() && submissions_.empty() && commands_.empty(); }

// Looks again and again, as long as nothing else is to be done. look() says whether it has brought anything.
template <class Look>
void Engine::look_for_long(Look look) {
  const bool yields = driver_->yields();
  const int most = yields ? kLooksYielding : kLooks;
  for (int i = 0; i < most && submissions_.empty() && commands_.empty(); ++i) {
    const Seen seen = look();
    if (seen == Seen::all) return;
    if (seen == Seen::some) i = -1;
    yields ? std::this_thread::yield() : pause_core();
  }
}

// The message of one that has not been started: nothing is known of it here but its submission.
bool Engine::receive_now(const Submission& s) {
  const CommunicatorState& c = *s.communicator;
  WireOp op = message_of(c, s.peer, s.number, s.fingerprint);
  Transport& transport = router_->to(op.peer);
  if (c.failed() || c.anybody_left || !fits_at_once(transport, op.length)) return false;
  if (!c.early_holds.empty() || !c.early_cancelled.empty()) return false;
  op.kind = WireKind::recv;
  op.data = static_cast<std::byte*>(s.output);
  bool received = false;
  const std::uint64_t since = observer_.now();
  look_for_long([&] { return (received = transport.try_at_once(op)) ? Seen::all : Seen::nothing; });
  if (!received) return false;
  observer_.unneeded(s);
  observer_.at_once(Collective::recv, c, s.number, op.peer, op.length, since);
  return true;
}

void Engine::run_now(Submission& s) {
  Operation* o = begin(s);
  if (o == nullptr) return;
  Run& run = o->run;
  if (run.held || run.plan->message_bytes_max > at_once_bytes_max_) {
    executor_->start(run);
    return end_if_done(*o);
  }
  executor_->start_at_once(run);
  look_for_long([&] {
    const bool any = executor_->look(run);
    // Each look at a wire may be a system call, which is not made for many peers in vain.
    if (run.unposted.size() > kWiresLookedAtMax) return Seen::all;
    return run.ended() ? Seen::all : any ? Seen::some : Seen::nothing;
  });
  executor_->post_rest(run);
  end_if_done(*o);
  publish_ended();
}

}  // namespace strata
