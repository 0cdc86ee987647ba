#include "strata/work.hpp"

#include <algorithm>
#include <atomic>

#include "ccl/base/check.hpp"
#include "ccl/runtime/engine.hpp"
#include "ccl/runtime/work_state.hpp"

namespace strata {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kForever = Clock::time_point::max();

Status timed_out(std::chrono::milliseconds timeout) {
  return {ErrorCode::timeout, fmt::format("not ended within {} ms; the operation goes on", timeout.count())};
}

}  // namespace

void WorkState::end(Status status) {
  std::vector<std::function<void(const Status&)>> callbacks;
  {
    const std::lock_guard lock(callbacks_mutex_);
    status_ = std::move(status);
    ended_.store(true, std::memory_order_release);
    callbacks.swap(callbacks_);
  }
  for (const auto& callback : callbacks) callback(status_);
}

void WorkState::then(std::function<void(const Status&)> callback) {
  {
    const std::lock_guard lock(callbacks_mutex_);
    if (!ended()) return callbacks_.push_back(std::move(callback));
  }
  callback(status_);
}

Work::Work() = default;
Work::Work(std::shared_ptr<WorkState> state) : state_(std::move(state)) {}
Work::Work(Status ended) {
  if (ended.ok()) return;
  state_ = std::make_shared<WorkState>(std::shared_ptr<Engine>{});
  state_->end(std::move(ended));
}
Work::Work(const Work&) = default;
Work::Work(Work&&) noexcept = default;
Work& Work::operator=(const Work&) = default;
Work& Work::operator=(Work&&) noexcept = default;
Work::~Work() = default;

bool Work::done() const {
  if (!state_) return true;
  if (!state_->parts.empty()) {
    for (const Work& part : state_->parts)
      if (!part.done()) return false;
    return true;
  }
  if (!state_->ended()) state_->engine->help();
  return state_->ended();
}

Status Work::status() const {
  if (!state_) return {};
  for (const Work& part : state_->parts)
    if (Status s = part.status(); !s.ok()) return s;
  return state_->ended() ? state_->status() : Status{};
}

namespace {

// While it lives, the calling thread waits for something of the engine.
class Waiting final {
 public:
  explicit Waiting(Engine* engine)
      : engine_(engine), since_(engine == nullptr ? 0 : engine->observer().now()) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (engine_ != nullptr) engine_->observer().waited(since_);
  }

 private:
  Engine* const engine_;
  const std::uint64_t since_;
};

}  // namespace

Status Work::wait() const {
  if (!state_) return {};
  if (!state_->parts.empty()) return wait_all(state_->parts);
  if (state_->engine && !state_->ended()) {
    const Waiting waiting(state_->engine.get());
    state_->engine->begin_waiting(*state_);
    state_->engine->drive([this] { return state_->ended(); }, kForever);
  }
  return state_->status();
}

Status Work::wait_for(std::chrono::milliseconds timeout) const {
  if (!state_) return {};
  const auto deadline = Clock::now() + timeout;
  const auto wait_one = [&](const Work& work) {
    WorkState& state = *work.state_;
    const Waiting waiting(state.ended() ? nullptr : state.engine.get());
    return state.ended() || state.engine->drive([&] { return state.ended(); }, deadline);
  };
  if (state_->parts.empty()) return wait_one(*this) ? state_->status() : timed_out(timeout);
  for (const Work& part : state_->parts)
    if (part.state_ && !wait_one(part)) return timed_out(timeout);
  return status();
}

void Work::then(std::function<void(const Status&)> callback) const {
  if (!state_) return callback(Status{});
  if (state_->parts.empty()) return state_->then(std::move(callback));
  struct Join {
    std::atomic<std::size_t> left;
    Work whole;
    std::function<void(const Status&)> callback;
  };
  auto join = std::make_shared<Join>(state_->parts.size(), *this, std::move(callback));
  for (const Work& part : state_->parts)
    part.then([join](const Status&) {
      if (join->left.fetch_sub(1) == 1) join->callback(join->whole.status());
    });
}

void Work::cancel() const {
  if (!state_ || state_->ended()) return;
  for (const Work& part : state_->parts) part.cancel();
  if (state_->engine) state_->engine->cancel(state_);
}

std::optional<Clock::time_point> Work::deadline() const {
  if (!state_) return std::nullopt;
  Clock::time_point first = state_->deadline;
  for (const Work& part : state_->parts) first = std::min(first, part.deadline().value_or(kForever));
  return first == kForever ? std::nullopt : std::optional(first);
}

std::size_t Work::wait_any(std::span<const Work> works) {
  STRATA_CHECK(!works.empty());
  const auto first_ended = [&]() -> std::size_t {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const auto& state = works[i].state_;
      if (!state || (state->parts.empty() ? state->ended() : works[i].done())) return i;
    }
    return works.size();
  };
  // Works of several engines are driven in turn, a short while each; usually there is one engine.
  for (std::size_t turn = 0;; ++turn) {
    if (const std::size_t i = first_ended(); i < works.size()) return i;
    const WorkState* state = works[turn % works.size()].state_.get();
    while (state && !state->parts.empty()) state = state->parts.front().state_.get();
    if (state == nullptr || !state->engine) continue;
    bool one_engine = true;
    for (const Work& w : works) one_engine = one_engine && w.state_ && w.state_->engine == state->engine;
    const Waiting waiting(state->engine.get());
    state->engine->drive([&] { return first_ended() < works.size(); },
                         one_engine ? kForever : Clock::now() + std::chrono::milliseconds(1));
  }
}

Status Work::wait_all(std::span<const Work> works) {
  Status first;
  for (const Work& work : works)
    if (Status s = work.wait(); first.ok()) first = std::move(s);
  return first;
}

}  // namespace strata
