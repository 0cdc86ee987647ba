// A transport that moves nothing: every message has arrived as soon as it is posted. What is left is our own
// cost.
#pragma once
#include <vector>

#include "ccl/transport/transport.hpp"

namespace strata::bench {

class NullTransport final : public Transport {
 public:
  Capabilities capabilities() const override { return {}; }
  void post(const WireOp& op) override { posted_.push_back(op.cookie); }
  std::size_t poll(std::span<Completion> completions) override {
    std::size_t n = 0;
    while (n < completions.size() && next_ < posted_.size()) completions[n++].cookie = posted_[next_++];
    if (next_ == posted_.size()) {
      posted_.clear();
      next_ = 0;
    }
    return n;
  }
  void cancel(const CancelScope&) override {}
  int wait_descriptor() const override { return -1; }
  bool prepare_to_sleep() override { return posted_.empty(); }
  void woke_up() override {}
  Status peer_status(Rank) const override { return {}; }

 private:
  std::vector<std::uint64_t> posted_;
  std::size_t next_ = 0;
};

}  // namespace strata::bench
