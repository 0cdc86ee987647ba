// The reference transport: a rank's view of a MemoryHub, with no protocol between.
#include <algorithm>

#include "ccl/base/check.hpp"
#include "ccl/transport/memory_hub.hpp"

namespace strata {
namespace {

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(std::shared_ptr<MemoryHub> hub, Rank rank, Listener& listener)
      : hub_(std::move(hub)), rank_(rank), listener_(listener) {
    STRATA_CHECK(rank >= 0 && rank < hub_->size(), rank, hub_->size());
    hub_->attach(rank_);
  }
  ~MemoryTransport() override { hub_->detach(rank_); }

  Capabilities capabilities() const override { return hub_->capabilities(); }

  void post(const WireOp& op) override {
    const Capabilities& can = hub_->capabilities();
    STRATA_CHECK(op.peer >= 0 && op.peer < hub_->size() && op.peer != rank_, op.peer, rank_, hub_->size());
    STRATA_CHECK(op.length <= can.message_bytes_max, op.length, can.message_bytes_max);
    if (op.kind == WireKind::recv_reduce) {
      STRATA_CHECK(can.fused_recv_reduce, "recv_reduce must be lowered for this transport");
      STRATA_CHECK(op.element_bytes > 0 && op.length % op.element_bytes == 0, op.length,
                   int{op.element_bytes});
    }
    hub_->post(rank_, op);
  }

  std::size_t poll(std::span<Completion> completions) override {
    hub_->ask(rank_, listener_);
    return hub_->take(rank_,
                      completions.first(std::min<std::size_t>(completions.size(), kCompletionsPerPollMax)));
  }

  void cancel(const CancelScope& scope) override { hub_->cancel(rank_, scope); }
  int wait_descriptor() const override { return hub_->descriptor(rank_); }
  bool prepare_to_sleep() override { return hub_->prepare_to_sleep(rank_); }
  void woke_up() override { hub_->woke_up(rank_); }

  Status peer_status(Rank peer) const override {
    if (!hub_->gone(peer)) return {};
    return Status(ErrorCode::peer_lost,
                  "memory transport: rank " + std::to_string(peer) + " has left the hub");
  }

 private:
  const std::shared_ptr<MemoryHub> hub_;
  const Rank rank_;
  Listener& listener_;
};

}  // namespace

std::shared_ptr<MemoryHub> make_memory_hub(int size, Capabilities capabilities) {
  return std::make_shared<MemoryHub>(size, capabilities);
}

std::unique_ptr<Transport> make_memory_transport(std::shared_ptr<MemoryHub> hub, Rank rank,
                                                 Listener& listener) {
  return std::make_unique<MemoryTransport>(std::move(hub), rank, listener);
}

}  // namespace strata
