// Starting, moving and ending operations. What goes wrong is in engine_failure.cpp.
#include "ccl/runtime/engine.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ccl/base/check.hpp"
#include "ccl/schedule/lower.hpp"

namespace strata {
namespace {

constexpr std::size_t kCommandsMax = 64;
constexpr int kStartsPerTurnMax = 64;

// Longer messages are cut, so that what moves at all is seen to move: the watchdog counts completed steps.
constexpr std::uint64_t kMessageBytesMax = 4 << 20;

// A program of one step, so that send and recv need nothing of their own.
Program point_to_point(const Submission& s) {
  const std::uint64_t bytes = s.fingerprint.count * size_of(static_cast<DataType>(s.fingerprint.type));
  Program program;
  if (s.direction == Collective::send)
    program.send(s.peer, {Buffer::input, 0, bytes});
  else
    program.recv(s.peer, {Buffer::output, 0, bytes});
  return program;
}

// By all transports to others.
std::uint64_t least_at_once(const Router& router, Rank me) {
  std::uint64_t least = ~std::uint64_t{0};
  for (Rank peer = 0; peer < router.size(); ++peer)
    if (peer != me) least = std::min(least, router.to(peer).capabilities().at_once_bytes_max);
  return least;
}

}  // namespace

Engine::Engine(Rank me, std::vector<Peer> peers)
    : me_(me),
      peers_(std::move(peers)),
      watchdog_(*this),
      submissions_(kSubmissionsMax),
      commands_(kCommandsMax) {}

Engine::~Engine() {
  if (driver_) driver_->stop();
}

void Engine::attach(std::unique_ptr<Router> router, std::shared_ptr<CommunicatorState> first,
                    DriverOptions options) {
  STRATA_CHECK(!router_);
  communicators_.emplace(first->id, first);
  router_ = std::move(router);
  for (const auto& transport : router_->all())
    if (neighbours_ == nullptr) neighbours_ = transport->neighbours();
  at_once_bytes_max_ = least_at_once(*router_, me_);
  first->neighbours = neighbours_of(*first);
  executor_ = std::make_unique<Executor>(*router_, observer_);
  control_ = std::make_unique<Control>(*router_, me_);
  control_->start();
  std::vector<int> descriptors;
  for (const auto& transport : router_->all())
    if (const int fd = transport->wait_descriptor(); fd >= 0) descriptors.push_back(fd);
  driver_ = std::make_unique<Driver>(static_cast<Driven&>(*this), options, std::move(descriptors));
}

void Engine::submit(std::unique_ptr<Submission> submission) {
  Submission* raw = submission.release();
  while (!submissions_.try_push(raw)) {
    // Full. Callbacks run on the owner's thread and between operations, so one that gets here may start some
    // itself.
    if (driver_->on_owner_thread())
      start_submitted();
    else
      driver_->help();
  }
  driver_->submitted();
}

void Engine::command(const std::function<void()>& command) {
  if (driver_->on_owner_thread()) return command();
  std::atomic<bool> ended{false};
  const std::function<void()> whole = [&] {
    command();
    Driver& driver = *driver_;  // once `ended` is set, this closure may be gone
    ended.store(true, std::memory_order_release);
    driver.ended();
  };
  const std::function<void()>* raw = &whole;
  while (!commands_.try_push(raw)) driver_->help();
  driver_->submitted();
  driver_->drive([&] { return ended.load(std::memory_order_acquire); }, Clock::time_point::max());
}

bool Engine::turn(Clock::time_point now) {
  now_ = now;
  bool worked = start_submitted();
  const std::function<void()>* command = nullptr;
  while (commands_.try_pop(command)) {
    (*command)();
    worked = true;
  }
  if (!router_) return worked;  // after goodbye
  if (!local_.empty()) worked |= advance_local();
  worked |= poll_transports();
  if (neighbours_) tend_neighbours();
  if (!untidy_.empty()) tidy_groups();
  apply_failures();
  if (now >= watchdog_.next_check()) watchdog_.check(now);
  publish_ended();
  observer_.turned(worked);
  return worked;
}

bool Engine::start_submitted() {
  Submission* raw = nullptr;
  int started = 0;
  while (started < kStartsPerTurnMax && submissions_.try_pop(raw)) {
    start(std::unique_ptr<Submission>(raw));
    ++started;
  }
  return started > 0;
}

void Engine::start(std::unique_ptr<Submission> submission) {
  Operation* operation = begin(*submission);
  if (operation == nullptr) return;
  executor_->start(operation->run);
  if (submission->local) return start_local(*operation, std::move(submission));
  end_if_done(*operation);
}

// null: it has failed.
Operation* Engine::begin(Submission& s) {
  CommunicatorState& communicator = *s.communicator;
  if (!s.point_to_point()) {
    communicator.start(s.number, s.fingerprint);
    check_early(s);
  }
  if (Status why = cannot_start(s); !why.ok()) {
    if (!communicator.failed()) fail(communicator, why, true);
    observer_.refused(s, communicator.status().code());
    ended_.push_back({std::move(s.work), communicator.status()});
    return nullptr;
  }
  if (cancelled_early(s)) return nullptr;
  return &new_operation(s);
}

Operation& Engine::new_operation(Submission& s) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(operations_.size()));
    operations_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Operation& o = operations_[slot];
  o.communicator = std::move(s.communicator);
  o.work = std::move(s.work);
  o.number = s.number;
  o.collective = s.point_to_point() ? s.direction : static_cast<Collective>(s.fingerprint.collective);
  o.peer = s.peer;
  o.timeout_ms = s.timeout_ms;
  o.deadline = s.deadline;
  o.holds = 0;
  o.asking = o.group_at_work = false;
  o.cancelled = {};
  watchdog_.progressed(o, now_);
  watchdog_.watch(o.deadline);
  o.active = true;
  o.communicator->active.fetch_add(1, std::memory_order_relaxed);
  o.place = static_cast<std::uint32_t>(active_.size());
  active_.push_back(slot);

  Run& run = o.run;
  run.plan = plan_for(*o.communicator, s);
  run.base = {nullptr, static_cast<std::byte*>(const_cast<void*>(s.input)), static_cast<std::byte*>(s.output),
              nullptr};
  run.ranks = o.communicator->ranks;
  run.tag = {.operation = s.number, .communicator = o.communicator->id, .message = 0};
  run.fingerprint = s.fingerprint;
  run.type = static_cast<DataType>(s.fingerprint.type);
  run.reduce = reduce_kernel(run.type, static_cast<ReduceOp>(s.fingerprint.op));
  run.reduce_many = reduce_many_kernel(run.type, static_cast<ReduceOp>(s.fingerprint.op));
  run.scale = s.scale;
  run.priority = s.priority;
  run.slot = slot;
  run.held = false;
  hold_early(o);
  if (o.timeout_ms > 0) watchdog_.watch(o.timeout_ms, now_);
  observer_.started(o, s);
  return o;
}

std::shared_ptr<const Plan> Engine::make_plan(const CommunicatorState& communicator, const Program& program,
                                              std::uint64_t element_bytes) {
  const auto abilities = [&](Rank peer) {
    const Capabilities c = router_->to(communicator.ranks[static_cast<std::size_t>(peer)]).capabilities();
    return WireAbilities{.fused_recv_reduce = c.fused_recv_reduce,
                         .message_bytes_max = std::min(c.message_bytes_max, kMessageBytesMax)};
  };
  auto plan = std::make_shared<Plan>();
  plan->schedule = derive(lower(program, element_bytes, abilities));
  for (const Step& step : plan->schedule.steps)
    if (step.on_wire()) plan->message_bytes_max = std::max(plan->message_bytes_max, step.length);
  return plan;
}

std::shared_ptr<const Plan> Engine::plan_for(CommunicatorState& communicator, const Submission& s) {
  if (s.local) {
    static const auto no_steps = std::make_shared<const Plan>(Plan{nullptr, derive(Program())});
    return no_steps;
  }
  PlanKey key{s.request, s.choice.algorithm, s.choice.tuning};
  if (s.point_to_point()) {
    key.request.collective = s.direction;
    key.request.type = static_cast<DataType>(s.fingerprint.type);
    key.request.count = s.fingerprint.count;
    key.request.root = s.peer;
  }
  if (auto known = communicator.plans.find(key)) return known;
  Program program;
  if (s.point_to_point())
    program = point_to_point(s);
  else
    s.choice.algorithm->build(program, s.request, communicator.group, s.choice.tuning);
  auto plan = make_plan(communicator, program, key.request.element_bytes());
  communicator.plans.insert(key, plan);
  return plan;
}

bool Engine::poll_transports() {
  bool any = false;
  for (const auto& transport : router_->all()) {
    const std::size_t n = transport->poll(completions_);
    STRATA_CHECK(n <= completions_.size(), n);
    for (std::size_t i = 0; i < n; ++i) handle(completions_[i]);
    any |= n > 0;
  }
  return any;
}

void Engine::handle(const Completion& c) {
  const std::uint32_t slot = Executor::slot_of(c.cookie);
  const StepId step = Executor::step_of(c.cookie);
  if (slot == Control::kSendSlot) return control_->sent(step);
  if (slot == Control::kReceiveSlot) {
    const auto peer = static_cast<Rank>(step);
    if (c.error != ErrorCode::ok) return lose(peer);
    if (const auto message = control_->received(peer)) handle(peer, *message);
    return;
  }
  Operation& o = operations_[slot];
  STRATA_CHECK(o.active, slot, step);
  watchdog_.progressed(o, now_);
  if (c.error == ErrorCode::ok) {
    executor_->complete(o.run, step);
    return end_if_done(o);
  }
  const auto communicator = o.communicator;  // a failure may end the operation
  const Rank peer = o.run.plan->schedule.steps[step].peer;
  executor_->drop(o.run, step);
  if (c.error == ErrorCode::mismatch)
    mismatch(o, peer, c);
  else if (c.error == ErrorCode::peer_lost)
    lost_during(o, peer);
  STRATA_CHECK(communicator->failed() || c.error == ErrorCode::aborted, to_string(c.error));
  end_if_done(o);
}

void Engine::end_if_done(Operation& o) {
  if (o.active && o.run.ended()) end(o);
}

void Engine::end(Operation& o) {
  o.active = false;
  active_[o.place] = active_.back();
  operations_[active_[o.place]].place = o.place;
  active_.pop_back();
  ended_.push_back({std::move(o.work), !o.run.failed      ? Status{}
                                       : o.cancelled.ok() ? o.communicator->status()
                                                          : o.cancelled});
  observer_.ended(o, ended_.back().status.code());
  executor_->retire(o.run);
  o.local.reset();
  o.communicator->active.fetch_sub(1, std::memory_order_release);
  o.communicator.reset();
  free_.push_back(o.run.slot);
}

// Callbacks run here, where no list is being walked, so that they may start operations.
void Engine::publish_ended() {
  if (ended_.empty()) return;
  publishing_.swap(ended_);
  for (Ended& e : publishing_) e.work->end(std::move(e.status));
  publishing_.clear();
  driver_->ended();
}

Operation* Engine::find(std::uint32_t communicator, std::uint64_t number, Rank peer) {
  for (const std::uint32_t slot : active_) {
    Operation& o = operations_[slot];
    if (o.number == number && o.peer == peer && o.communicator->id == communicator) return &o;
  }
  return nullptr;
}

bool Engine::prepare_to_sleep() {
  bool may = true;
  if (router_)
    for (const auto& transport : router_->all()) may &= transport->prepare_to_sleep();
  // The announcement came first, so what peers write from here on wakes us.
  may = may && !(router_ && local_news());
  if (may) observer_.fell_asleep();
  return may;
}

void Engine::woke_up() {
  observer_.woke_up();
  if (router_)
    for (const auto& transport : router_->all()) transport->woke_up();
}

Clock::time_point Engine::next_check() const { return watchdog_.next_check(); }

}  // namespace strata
