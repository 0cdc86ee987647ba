// A state machine of two states: inside a header, inside a payload.
#include "ccl/transport/stream/receiver.hpp"

#include <algorithm>
#include <cstring>

namespace strata::stream {

Expected<bool> Receiver::turn(std::size_t budget_bytes) {
  for (std::size_t taken = 0; taken < budget_bytes;) {
    std::size_t moved = 0;
    if (payload_left_ > 0) {
      moved = move_payload(budget_bytes - taken);
    } else {
      moved = take_header_bytes();
      if (header_count_ == kFrameBytes) {
        if (Status status = on_header(); !status.ok()) return status;
      }
    }
    if (moved == 0) return false;
    taken += moved;
  }
  return true;
}

bool Receiver::take_next(const WireOp& op) {
  const std::span<const std::byte> bytes = pipe_.peek();
  if (payload_left_ > 0 || header_count_ > 0 || bytes.size() < kFrameBytes + op.length) return false;
  const Expected<FrameHeader> header = parse_frame(bytes.first<kFrameBytes>());
  if (!header.ok() || header->kind != FrameKind::data || header->announced) return false;
  if (header->tag != op.tag || header->fingerprint != op.fingerprint || header->length != op.length)
    return false;
  // If the peer has broken a rule of credit, turn() finds the same and says so.
  if (!sender_.lend(eager_cost(op.length)) || !sender_.refund(header->credit)) return false;
  sender_.owe(eager_cost(op.length));
  Carry carry;
  deliver(op, 0, bytes.subspan(kFrameBytes, op.length), carry);
  pipe_.consume(kFrameBytes + op.length);
  return true;
}

std::size_t Receiver::take_header_bytes() {
  const std::span<const std::byte> bytes = pipe_.peek();
  const std::size_t count = std::min(bytes.size(), kFrameBytes - header_count_);
  if (count == 0) return 0;
  std::memcpy(header_bytes_.data() + header_count_, bytes.data(), count);
  pipe_.consume(count);
  header_count_ += count;
  return count;
}

Status Receiver::on_header() {
  header_count_ = 0;
  Expected<FrameHeader> header = parse_frame(header_bytes_);
  if (!header.ok()) return header.status();
  header_ = *header;
  if (!sender_.refund(header_.credit)) {
    return Status(ErrorCode::peer_lost,
                  "more credit back than it had been sent: " + std::to_string(header_.credit));
  }
  return on_frame();
}

Status Receiver::on_frame() {
  switch (header_.kind) {
    case FrameKind::ready: return matcher_.on_ready(peer_, header_, sender_);
    case FrameKind::request: return matcher_.on_request(peer_, header_, sender_);
    case FrameKind::credit: return {};
    case FrameKind::data: break;
  }
  const Expected<Message*> target = matcher_.begin_data(peer_, header_, sender_);
  if (!target.ok()) return target.status();
  target_ = *target != nullptr ? Ledger::handle(**target) : MessageHandle{};
  payload_left_ = header_.fragment;
  carry_.count = 0;
  if (payload_left_ == 0) end_frame();
  return {};
}

std::size_t Receiver::move_payload(std::size_t bytes_max) {
  const std::size_t moved =
      move_from_pipe(ledger_.get(target_), std::min<std::uint64_t>(payload_left_, bytes_max));
  payload_left_ -= moved;
  if (payload_left_ == 0) end_frame();
  return moved;
}

std::size_t Receiver::move_from_pipe(Message* message, std::size_t bytes_max) {
  const bool direct =
      message != nullptr && message->state == MessageState::posted && message->stashed.bytes == 0;
  const std::uint64_t offset = header_.offset + header_.fragment - payload_left_;
  if (direct && message->op.kind == WireKind::recv) {
    const std::size_t count = pipe_.read({message->op.data + offset, bytes_max});
    message->moved += count;
    return count;
  }
  const std::span<const std::byte> arrived = pipe_.peek();
  const std::span<const std::byte> bytes = arrived.first(std::min(arrived.size(), bytes_max));
  if (bytes.empty()) return 0;
  if (direct) {
    deliver(message->op, offset, bytes, carry_);
    message->moved += bytes.size();
  } else if (message != nullptr) {
    ledger_.stash().append(message->stashed, bytes);
  }
  pipe_.consume(bytes.size());
  return bytes.size();
}

void Receiver::end_frame() { matcher_.end_data(header_, ledger_.get(target_), sender_); }

}  // namespace strata::stream
