// What goes out to one peer, and in which order: control frames first, then fragments of the queued sends.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ccl/transport/stream/batch.hpp"
#include "ccl/transport/stream/ledger.hpp"

namespace strata::stream {

// Queued sends go by priority, higher first; a fragment is what cannot be interrupted. Equal priorities go
// one after another in the order of their posts, not in turns: the earlier one is there sooner, and the later
// one no later.
// Nobody starves: when kPassedFragmentsMax fragments' worth of bytes have gone, the next fragment is the
// oldest message's, whatever its priority. So each fragment of a queued message, and of those older than it,
// lets at most 64 others pass, and what is urgent loses at most 1/64 of the wire.
class Sender final {
 public:
  static constexpr std::uint64_t kPassedFragmentsMax = 63;

  explicit Sender(Ledger& ledger) : ledger_(ledger) {}

  void enqueue(const Message& message);   // a send that may go
  void request(Message& message);         // tells the peer of a send that may not go yet
  void announce(const Message& message);  // tells the peer that its receive is posted
  // What this rank's side says of a message that ends as a mismatch here, so that the peer finds out too.
  // Goes out even if its communicator is cancelled meanwhile.
  void tell_mismatch(FrameKind kind, const WireOp& op);

  // A small send that goes out alone: its frame, if nothing is queued before it and there is credit.
  // sent(): it did.
  bool may_send_alone(const WireOp& op) const {
    return queue_.empty() && control_.empty() && op.length <= kEagerBytesMax &&
           eager_cost(op.length) <= credit_;
  }
  FrameHeader alone(const WireOp& op) const;
  void sent_alone(const FrameHeader& header);

  // Eager credit. lend: the peer used so much of the window here; false: it had not so much. owe: so much of
  // it has been consumed and can be given back. refund: the peer gives back; false: more than it had.
  bool lend(std::uint32_t bytes);
  void owe(std::uint32_t bytes) { owed_ += bytes; }
  bool refund(std::uint32_t bytes);

  // Whether there is something for the first of the peer's streams, which alone carries control frames, or
  // for another.
  bool has_output(bool first) const {
    return !queue_.empty() || (first && (!control_.empty() || owed_ >= kEagerWindowBytes / 2));
  }
  void fill(Batch& batch, bool first);     // an empty one
  void finish(const Batch::Frame& frame);  // a pipe has taken it whole

  void cancel(Rank peer, const CancelScope& scope);  // before the ledger lets go of its messages
  void clear();                                      // the peer is lost

 private:
  struct Control {
    FrameHeader header;
    bool outlives_cancel = false;
  };
  struct Queued {
    std::int32_t priority;
    std::uint64_t sequence;
    MessageHandle message;
    bool operator<(const Queued& other) const {  // of two, the lesser goes later
      return priority != other.priority ? priority < other.priority : sequence > other.sequence;
    }
  };

  bool add_fragment(Batch& batch);
  bool oldest_is_due(const Batch& batch) const { return passed_ >= kPassedFragmentsMax * batch.bytes_max(); }
  std::size_t oldest() const;  // its index in the queue
  void dequeue(std::size_t index);
  void ask_instead(Message& message);  // it is not in the queue any more
  void add(Batch& batch, FrameHeader header, const std::byte* payload, MessageHandle message);

  Ledger& ledger_;
  Fifo<Control> control_;
  std::vector<Queued> queue_;                 // a heap; ended messages are skipped when they come up
  std::uint64_t passed_ = 0;                  // bytes framed since the oldest had its turn, headers included
  std::uint32_t credit_ = kEagerWindowBytes;  // what may still be sent without asking
  std::uint32_t lent_ = 0;                    // of the window here: used and not given back
  std::uint32_t owed_ = 0;                    // of lent_: consumed
};

}  // namespace strata::stream
