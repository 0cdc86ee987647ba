#include "ccl/transport/self_transport.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

namespace strata {
namespace {

class SelfTransport final : public Transport {
 public:
  Capabilities capabilities() const override { return {}; }

  void post(const WireOp& op) override {
    const auto other = std::find_if(waiting_.begin(), waiting_.end(), [&](const WireOp& w) {
      return w.tag == op.tag && (w.kind == WireKind::send) != (op.kind == WireKind::send);
    });
    if (other == waiting_.end()) return waiting_.push_back(op);
    const WireOp met = *other;
    waiting_.erase(other);
    if (met.kind == WireKind::send)
      meet(met, op);
    else
      meet(op, met);
  }

  std::size_t poll(std::span<Completion> completions) override {
    const std::size_t n = std::min({completions.size(), ended_.size(), std::size_t{kCompletionsPerPollMax}});
    std::copy_n(ended_.begin(), n, completions.begin());
    ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(n));
    return n;
  }

  void cancel(const CancelScope& scope) override {
    for (const WireOp& op : waiting_)
      if (scope.covers(op.peer, op.tag))
        ended_.push_back({.cookie = op.cookie, .error = ErrorCode::aborted, .theirs = {}, .their_length = 0});
    std::erase_if(waiting_, [&](const WireOp& op) { return scope.covers(op.peer, op.tag); });
  }

  int wait_descriptor() const override { return -1; }
  bool prepare_to_sleep() override { return ended_.empty(); }
  void woke_up() override {}
  Status peer_status(Rank) const override { return {}; }

 private:
  void meet(const WireOp& send, const WireOp& recv) {
    if (send.fingerprint != recv.fingerprint || send.length != recv.length) {
      ended_.push_back({send.cookie, ErrorCode::mismatch, recv.fingerprint, recv.length});
      ended_.push_back({recv.cookie, ErrorCode::mismatch, send.fingerprint, send.length});
      return;
    }
    if (recv.kind == WireKind::recv_reduce)
      recv.reduce(recv.data, recv.addend, send.data, recv.length / recv.element_bytes);
    else if (recv.length > 0)
      std::memmove(recv.data, send.data, recv.length);
    ended_.push_back({.cookie = send.cookie, .error = ErrorCode::ok, .theirs = {}, .their_length = 0});
    ended_.push_back({.cookie = recv.cookie, .error = ErrorCode::ok, .theirs = {}, .their_length = 0});
  }

  std::vector<WireOp> waiting_;
  std::deque<Completion> ended_;
};

}  // namespace

std::unique_ptr<Transport> make_self_transport() { return std::make_unique<SelfTransport>(); }

}  // namespace strata
