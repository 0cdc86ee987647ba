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
std::size_t complete_carry(const WireOp& op, std::uint64_t offset, std::span<const std::byte> bytes,
                           Carry& carry) {
  const std::size_t taken = std::min<std::size_t>(bytes.size(), op.element_bytes - carry.count);
  std::memcpy(carry.bytes.data() + carry.count, bytes.data(), taken);
  carry.count = static_cast<std::uint8_t>(carry.count + taken);
  if (carry.count == op.element_bytes) {
    reduce_at(op, offset + taken - op.element_bytes, carry.bytes.data(), 1);
    carry.count = 0;
  }
  return taken;
}

void deliver_reduced(const WireOp& op, std::uint64_t offset, std::span<const std::byte> bytes, Carry& carry) {
  const auto skip = [&](std::size_t count) {
    offset += count;
    bytes = bytes.subspan(count);
  };
  if (carry.count > 0) skip(complete_carry(op, offset, bytes, carry));
  const std::size_t whole = bytes.size() / op.element_bytes;
  if (whole > 0) reduce_at(op, offset, bytes.data(), whole);
  skip(whole * op.element_bytes);
  if (!bytes.empty()) complete_carry(op, offset, bytes, carry);
}

}  // namespace

void deliver(const WireOp& op, std::uint64_t offset, std::span<const std::byte> bytes, Carry& carry) {
  if (bytes.empty()) return;
  if (op.kind == WireKind::recv_reduce) return deliver_reduced(op, offset, bytes, carry);
  std::memcpy(op.data + offset, bytes.data(), bytes.size());
}

}  // namespace strata::stream
