// The sending end of one pipe: what its peer's sender has for it goes out batch by batch.
#pragma once
#include <algorithm>

#include "ccl/transport/stream/sender.hpp"

namespace strata::stream {

class Outlet final {
 public:
  // first: of the peer's streams, the one with the control frames.
  Outlet(Pipe& pipe, Sender& sender, bool first) : pipe_(pipe), sender_(sender), first_(first) {}

  void turn(std::size_t budget_bytes) {
    for (std::size_t moved = 0; wants_turn() && moved < budget_bytes;) {
      if (batch_.empty()) {
        batch_.set_bytes_max(std::min<std::uint64_t>(pipe_.fragment_bytes(), kFragmentBytesMax));
        sender_.fill(batch_, first_);
      }
      if (batch_.empty()) return;
      moved += batch_.write(pipe_, [this](const Batch::Frame& frame) { sender_.finish(frame); });
      blocked_ = !batch_.empty();
    }
  }
  // Writes a small send past the queue. false: it did not go. What the pipe takes only in part is kept here,
  // so the op's memory is free in any case.
  bool send_alone(const WireOp& op) {
    if (blocked_ || !batch_.empty() || !sender_.may_send_alone(op)) return false;
    const FrameHeader header = sender_.alone(op);
    batch_.add(header, op.data, {});
    if (batch_.write(pipe_, [](const Batch::Frame&) {}) == 0) {
      batch_.clear();
      return false;
    }
    sender_.sent_alone(header);
    batch_.rescue();
    blocked_ = !batch_.empty();
    return true;
  }
  bool wants_turn() const { return !blocked_ && (!batch_.empty() || sender_.has_output(first_)); }
  void unblock() { blocked_ = false; }  // the pipe may take bytes again

  void rescue(Rank peer, const CancelScope& scope) { batch_.rescue(peer, scope); }
  void clear() {  // the peer is lost
    batch_.clear();
    blocked_ = true;
  }

 private:
  Pipe& pipe_;
  Sender& sender_;
  const bool first_;
  Batch batch_;
  bool blocked_ = false;  // the last write was short
};

}  // namespace strata::stream
