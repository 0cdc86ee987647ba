#include "ccl/runtime/control.hpp"

#include <algorithm>
#include <cstring>

#include "ccl/runtime/communicator_state.hpp"

namespace strata {
namespace {

WireOp wire(WireKind kind, Rank peer, ControlMessage& message, std::uint32_t number, std::uint64_t cookie) {
  WireOp op;
  op.kind = kind;
  op.priority = std::numeric_limits<std::int32_t>::max();
  op.peer = peer;
  op.tag = {.operation = number, .communicator = kControlCommunicator, .message = 0};
  op.data = reinterpret_cast<std::byte*>(&message);
  op.length = sizeof message;
  op.cookie = cookie;
  return op;
}

}  // namespace

void ControlMessage::set_text(std::string_view t) {
  text_length = static_cast<std::uint32_t>(std::min(t.size(), kTextMax));
  std::memcpy(text.data(), t.data(), text_length);
}

void ControlMessage::set_numbers(std::span<const std::uint64_t> numbers) {
  set_text({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
}

std::vector<std::uint64_t> ControlMessage::numbers() const {
  std::vector<std::uint64_t> numbers(text_view().size() / sizeof(std::uint64_t));
  std::memcpy(numbers.data(), text.data(), numbers.size() * sizeof(std::uint64_t));
  return numbers;
}

bool ControlMessage::valid() const {
  return magic == kMagic && kind <= Kind::goodbye_seen && code <= ErrorCode::cancelled &&
         progress <= Progress::ended && text_length <= kTextMax;
}

Control::Control(Router& router, Rank me)
    : router_(router),
      me_(me),
      incoming_(static_cast<std::size_t>(router.size())),
      next_in_(static_cast<std::size_t>(router.size())),
      next_out_(static_cast<std::size_t>(router.size())) {}

void Control::start() {
  for (Rank peer = 0; peer < router_.size(); ++peer)
    if (peer != me_) post_receive(peer);
}

void Control::post_receive(Rank from) {
  const auto i = static_cast<std::size_t>(from);
  const std::uint64_t cookie = std::uint64_t{kReceiveSlot} << 32 | static_cast<std::uint32_t>(from);
  router_.to(from).post(wire(WireKind::recv, from, incoming_[i], next_in_[i]++, cookie));
}

void Control::send(Rank to, const ControlMessage& message) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(outgoing_.size()));
    outgoing_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  outgoing_[index] = message;
  const std::uint64_t cookie = std::uint64_t{kSendSlot} << 32 | index;
  router_.to(to).post(
      wire(WireKind::send, to, outgoing_[index], next_out_[static_cast<std::size_t>(to)]++, cookie));
}

std::optional<ControlMessage> Control::received(Rank from) {
  const ControlMessage message = incoming_[static_cast<std::size_t>(from)];
  post_receive(from);
  return message.valid() ? std::optional(message) : std::nullopt;
}

void Control::sent(std::uint32_t index) { free_.push_back(index); }

}  // namespace strata
