// The pool of messages and the two tables that find them.
#include "ccl/transport/stream/ledger.hpp"

#include <algorithm>

namespace strata::stream {

Message* Ledger::find(const TagTable& table, Rank peer, const Tag& tag) {
  const std::uint32_t index = table.find(peer, tag);
  return index == TagTable::kNone ? nullptr : &messages_[index];
}

Message* Ledger::get(MessageHandle handle) {
  if (handle.index >= messages_.size()) return nullptr;
  Message& message = messages_[handle.index];
  return message.generation == handle.generation && message.state != MessageState::free ? &message : nullptr;
}

Message& Ledger::add(MessageState state, const WireOp& op) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back().index = free_.back();
  }
  Message& message = messages_[free_.back()];
  free_.pop_back();
  message.state = state;
  message.op = op;
  message.sequence = sequence_++;
  table(message).insert(op.peer, op.tag, message.index);
  early_count(message) += is_early(state);
  return message;
}

void Ledger::post(Message& message, MessageState state, const WireOp& op) {
  early_count(message) -= is_early(message.state);
  message.state = state;
  message.op = op;
  message.sequence = sequence_++;
}

void Ledger::remove(Message& message) {
  early_count(message) -= is_early(message.state);
  table(message).erase(message.op.peer, message.op.tag);
  stash_.release(message.stashed);
  message.state = MessageState::free;
  message.announced = message.requested = message.mismatched = false;
  message.framed = message.moved = 0;
  ++message.generation;
  free_.push_back(message.index);
}

void Ledger::complete(Message& message, ErrorCode error) {
  completions_.push({.cookie = message.op.cookie, .error = error});
  remove(message);
}

void Ledger::complete_mismatched(Message& message, const Fingerprint& theirs, std::uint64_t their_length) {
  completions_.push({message.op.cookie, ErrorCode::mismatch, theirs, their_length});
  remove(message);
}

std::size_t Ledger::take(std::span<Completion> into) {
  const std::size_t count = std::min(into.size(), completions_.size());
  for (Completion& completion : into.first(count)) completion = completions_.pop();
  return count;
}

}  // namespace strata::stream
