// Composes batches of frames.
#include "ccl/transport/stream/sender.hpp"

#include <algorithm>

namespace strata::stream {
namespace {

FrameHeader header_of(FrameKind kind, const WireOp& op) {
  FrameHeader header;
  header.kind = kind;
  header.tag = op.tag;
  header.fingerprint = op.fingerprint;
  header.length = op.length;
  return header;
}

}  // namespace

void Sender::enqueue(const Message& message) {
  queue_.push_back({message.op.priority, message.sequence, Ledger::handle(message)});
  std::push_heap(queue_.begin(), queue_.end());
}

void Sender::request(Message& message) {
  message.requested = true;
  control_.push({header_of(FrameKind::request, message.op), false});
}
void Sender::announce(const Message& message) {
  control_.push({header_of(FrameKind::ready, message.op), false});
}
void Sender::tell_mismatch(FrameKind kind, const WireOp& op) { control_.push({header_of(kind, op), true}); }

bool Sender::lend(std::uint32_t bytes) {
  if (bytes > kEagerWindowBytes - lent_) return false;
  lent_ += bytes;
  return true;
}

bool Sender::refund(std::uint32_t bytes) {
  if (bytes > kEagerWindowBytes - credit_) return false;
  credit_ += bytes;
  return true;
}

FrameHeader Sender::alone(const WireOp& op) const {
  FrameHeader header = header_of(FrameKind::data, op);
  header.fragment = static_cast<std::uint32_t>(op.length);
  header.credit = owed_;
  return header;
}

void Sender::sent_alone(const FrameHeader& header) {
  credit_ -= eager_cost(header.length);
  lent_ -= header.credit;
  owed_ -= header.credit;
}

void Sender::fill(Batch& batch, bool first) {
  while (!batch.full()) {
    if (first && !control_.empty()) {
      add(batch, control_.pop().header, nullptr, {});
    } else if (queue_.empty() || !add_fragment(batch)) {
      break;
    }
  }
  if (!batch.empty() || !first || owed_ < kEagerWindowBytes / 2) return;
  FrameHeader credit;
  credit.kind = FrameKind::credit;
  add(batch, credit, nullptr, {});
}

// Looks at all that is queued, which happens once in many fragments.
std::size_t Sender::oldest() const {
  const auto earlier = [](const Queued& a, const Queued& b) { return a.sequence < b.sequence; };
  return static_cast<std::size_t>(std::min_element(queue_.begin(), queue_.end(), earlier) - queue_.begin());
}

// Deals with the next of the queue. false: its fragment does not fit into this batch.
bool Sender::add_fragment(Batch& batch) {
  const bool due = oldest_is_due(batch);
  const std::size_t index = due ? oldest() : 0;
  Message* message = ledger_.get(queue_[index].message);
  if (message == nullptr) {
    dequeue(index);
    return true;
  }
  const WireOp& op = message->op;
  const std::uint64_t bytes = std::min(op.length - message->framed, batch.bytes_max());
  if (!batch.has_room(bytes)) return false;
  if (!message->announced) {
    const std::uint32_t cost = eager_cost(op.length);
    if (cost > credit_) {
      dequeue(index);
      ask_instead(*message);
      return true;
    }
    credit_ -= cost;
  }
  FrameHeader header = header_of(FrameKind::data, op);
  header.announced = message->announced;
  header.requested = message->requested;
  header.offset = message->framed;
  header.fragment = static_cast<std::uint32_t>(bytes);
  const std::byte* payload = bytes > 0 ? op.data + message->framed : nullptr;
  if (message->framed == 0) note_departure(op);
  message->framed += bytes;
  const bool last = message->framed == op.length;
  passed_ = due ? 0 : passed_ + kFrameBytes + bytes;
  add(batch, header, payload, Ledger::handle(*message));
  if (last) dequeue(index);
  return true;
}

void Sender::dequeue(std::size_t index) {
  if (index == 0) {
    std::pop_heap(queue_.begin(), queue_.end());
    queue_.pop_back();
  } else {
    queue_[index] = queue_.back();
    queue_.pop_back();
    std::make_heap(queue_.begin(), queue_.end());
  }
  if (queue_.empty()) passed_ = 0;
}

// Credit is taken when bytes can move, not when they are posted, so what finds none asks now and holds none.
void Sender::ask_instead(Message& message) {
  if (message.mismatched) {  // the peer's ready has come already
    tell_mismatch(FrameKind::request, message.op);
    return ledger_.complete_mismatched(message, message.theirs, message.their_length);
  }
  message.state = MessageState::waiting;
  request(message);
}

void Sender::add(Batch& batch, FrameHeader header, const std::byte* payload, MessageHandle message) {
  header.credit = owed_;
  lent_ -= owed_;
  owed_ = 0;
  batch.add(header, payload, message);
}

void Sender::finish(const Batch::Frame& frame) {
  Message* message = ledger_.get(frame.message);
  if (message == nullptr) return;
  message->moved += frame.header.fragment;
  if (message->moved < message->op.length) return;
  if (message->mismatched)
    return ledger_.complete_mismatched(*message, message->theirs, message->their_length);
  ledger_.complete(*message, ErrorCode::ok);
}

void Sender::cancel(Rank peer, const CancelScope& scope) {
  control_.erase_if([&](const Control& control) {
    return !control.outlives_cancel && scope.covers(peer, control.header.tag);
  });
}

void Sender::clear() {
  control_.clear();
  queue_.clear();
  passed_ = 0;
  owed_ = 0;
}

}  // namespace strata::stream
