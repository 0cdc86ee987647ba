// A decorator for tests: faults by seed. What it does is allowed by the contract, so whatever runs on a
// transport must survive it: posts and completions are held back and overtake each other, polls do nothing,
// ranks are cut off.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "ccl/base/check.hpp"
#include "ccl/base/fd.hpp"
#include "ccl/transport/factories.hpp"

namespace strata {
namespace {

// Ops can only be held back that are posted.
Capabilities without_at_once(Capabilities capabilities) {
  capabilities.at_once_bytes_max = 0;
  return capabilities;
}

class FaultyTransport final : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> inner, Faults faults)
      : inner_(std::move(inner)),
        faults_(faults),
        random_(faults.seed),
        capabilities_(without_at_once(inner_->capabilities())) {
    if (inner_->wait_descriptor() < 0) return;
    // Sleepers hold on to this descriptor, which outlives the inner transport's.
    sleep_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{.events = EPOLLIN, .data = {}};
    STRATA_CHECK(sleep_.valid(), errno);
    STRATA_CHECK(::epoll_ctl(sleep_.get(), EPOLL_CTL_ADD, inner_->wait_descriptor(), &event) == 0, errno);
  }

  Capabilities capabilities() const override { return capabilities_; }

  void post(const WireOp& op) override {
    if (inner_ && chance(faults_.peer_death)) cut_off();
    const std::uint32_t slot = take_slot(op);
    if (!inner_) return finish(slot, {.error = ErrorCode::peer_lost});
    Op& mine = ops_[slot];
    mine.hold_polls = hold();
    mine.state = State::held;
    if (mine.hold_polls == 0) forward(slot);
  }

  std::size_t poll(std::span<Completion> completions) override {
    advance_held();
    if (stalled_polls_ > 0) {
      --stalled_polls_;
    } else if (inner_) {
      stalled_polls_ = hold() / 2;
      poll_inner();
    }
    return release(completions);
  }

  void cancel(const CancelScope& scope) override {
    for (std::uint32_t slot = 0; slot < ops_.size(); ++slot) {
      const Op& op = ops_[slot];
      if (op.state == State::held && scope.covers(op.wire.peer, op.wire.tag))
        finish(slot, {.error = ErrorCode::aborted});
    }
    if (inner_) inner_->cancel(scope);
  }

  int wait_descriptor() const override { return sleep_.get(); }

  bool prepare_to_sleep() override {
    if (stalled_polls_ > 0 || !ended_.empty() || held_ > 0) return false;
    return !inner_ || inner_->prepare_to_sleep();
  }

  void woke_up() override {
    if (inner_) inner_->woke_up();
  }

  Status peer_status(Rank peer) const override {
    if (inner_) return inner_->peer_status(peer);
    return Status(
        ErrorCode::peer_lost,
        fmt::format("faulty transport: this rank was cut off from rank {} (seed {})", peer, faults_.seed));
  }

 private:
  enum class State : std::uint8_t { free, held, posted };
  struct Op {
    WireOp wire;
    State state = State::free;
    std::uint32_t hold_polls = 0;
  };
  struct Ended {
    Completion completion;
    std::uint32_t hold_polls = 0;
  };

  bool chance(double odds) { return odds > 0 && std::uniform_real_distribution<>(0, 1)(random_) < odds; }
  std::uint32_t hold() {
    if (!chance(faults_.delay)) return 0;
    return std::uniform_int_distribution<std::uint32_t>(1, std::max(1u, faults_.delay_polls_max))(random_);
  }

  std::uint32_t take_slot(const WireOp& op) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(ops_.size()));
      ops_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    ops_[slot] = {op, State::held, 0};
    ++held_;
    return slot;
  }

  void forward(std::uint32_t slot) {
    --held_;
    ops_[slot].state = State::posted;
    WireOp op = ops_[slot].wire;
    op.cookie = slot;
    inner_->post(op);
  }

  void finish(std::uint32_t slot, Completion completion) {
    if (ops_[slot].state == State::held) --held_;
    ops_[slot].state = State::free;
    free_.push_back(slot);
    completion.cookie = ops_[slot].wire.cookie;
    ended_.push_back({completion, hold()});
  }

  void advance_held() {
    for (std::uint32_t slot = 0; held_ > 0 && slot < ops_.size(); ++slot) {
      if (ops_[slot].state == State::held && --ops_[slot].hold_polls == 0) forward(slot);
    }
    for (Ended& ended : ended_) ended.hold_polls -= ended.hold_polls > 0;
  }

  void poll_inner() {
    std::array<Completion, kCompletionsPerPollMax> batch;
    const std::size_t count = inner_->poll(batch);
    for (const Completion& completion : std::span(batch).first(count)) {
      const auto slot = static_cast<std::uint32_t>(completion.cookie);
      STRATA_CHECK(slot < ops_.size() && ops_[slot].state == State::posted, "completed twice",
                   completion.cookie);
      finish(slot, completion);
    }
  }

  std::size_t release(std::span<Completion> completions) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < ended_.size() && count < completions.size();) {
      if (ended_[i].hold_polls > 0) {
        ++i;
        continue;
      }
      completions[count++] = ended_[i].completion;
      ended_[i] = ended_.back();
      ended_.pop_back();
    }
    return count;
  }

  // As if this process had been killed: its peers lose it, and it loses them.
  void cut_off() {
    inner_.reset();  // from here on nothing touches the memory of the ops it had
    for (std::uint32_t slot = 0; slot < ops_.size(); ++slot) {
      if (ops_[slot].state != State::free) finish(slot, {.error = ErrorCode::peer_lost});
    }
  }

  std::unique_ptr<Transport> inner_;  // null once cut off
  const Faults faults_;
  std::mt19937_64 random_;
  const Capabilities capabilities_;
  Fd sleep_;
  std::vector<Op> ops_;
  std::vector<std::uint32_t> free_;
  std::size_t held_ = 0;  // ops not yet given to the inner transport
  std::vector<Ended> ended_;
  std::uint32_t stalled_polls_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_faulty_transport(std::unique_ptr<Transport> inner, Faults faults) {
  return std::make_unique<FaultyTransport>(std::move(inner), faults);
}

}  // namespace strata
