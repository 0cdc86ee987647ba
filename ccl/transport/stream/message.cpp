// Bytes into a receive: copied, or reduced straight out of where they lie.
#include "ccl/transport/stream/message.hpp"

#include <algorithm>
#include <cstring>

namespace strata::stream {
namespace {

void reduce_at(const WireOp& op, std::uint64_t offset, const std::byte* received, std::size_t count) {
  op.reduce(op.data + offset, op.addend + offset, received, count);
}

// Adds to the element that is held in pieces, and reduces it when it is whole. Returns how many bytes it
// took.
std::size_t complete_carry(Message& message, std::span<const std::byte> bytes) {
  Carry& carry = message.carry;
  const WireOp& op = message.op;
  const std::size_t taken = std::min<std::size_t>(bytes.size(), op.element_bytes - carry.count);
  std::memcpy(carry.bytes.data() + carry.count, bytes.data(), taken);
  carry.count = static_cast<std::uint8_t>(carry.count + taken);
  message.moved += taken;
  if (carry.count == op.element_bytes) {
    reduce_at(op, message.moved - op.element_bytes, carry.bytes.data(), 1);
    carry.count = 0;
  }
  return taken;
}

void deliver_reduced(Message& message, std::span<const std::byte> bytes) {
  if (message.carry.count > 0) bytes = bytes.subspan(complete_carry(message, bytes));
  const std::size_t whole = bytes.size() / message.op.element_bytes;
  if (whole > 0) reduce_at(message.op, message.moved, bytes.data(), whole);
  message.moved += whole * message.op.element_bytes;
  bytes = bytes.subspan(whole * message.op.element_bytes);
  if (!bytes.empty()) complete_carry(message, bytes);
}

}  // namespace

void deliver(Message& message, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (message.op.kind == WireKind::recv_reduce) return deliver_reduced(message, bytes);
  std::memcpy(message.op.data + message.moved, bytes.data(), bytes.size());
  message.moved += bytes.size();
}

}  // namespace strata::stream
