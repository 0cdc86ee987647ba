// All messages of a transport that have not ended, and the completions of those that have.
#pragma once
#include <deque>
#include <vector>

#include "ccl/transport/stream/fifo.hpp"
#include "ccl/transport/stream/message.hpp"
#include "ccl/transport/stream/tag_table.hpp"

namespace strata::stream {

// Allocates only when there are more messages at once than ever before. Message references stay good until
// removal.
class Ledger final {
 public:
  explicit Ledger(std::size_t ranks) : early_(ranks, 0) {}

  // The message with this tag that this rank sends to (receives from) the peer; null: none.
  Message* find_send(Rank peer, const Tag& tag) { return find(sends_, peer, tag); }
  Message* find_receive(Rank peer, const Tag& tag) { return find(receives_, peer, tag); }
  Message* get(MessageHandle handle);  // null: it has ended
  static MessageHandle handle(const Message& message) { return {message.index, message.generation}; }

  Message& add(MessageState state, const WireOp& op);
  // The op takes over what the peer has told of it.
  void post(Message& message, MessageState state, const WireOp& op);
  void remove(Message& message);
  void complete(Message& message, ErrorCode error);
  void complete_mismatched(Message& message, const Fingerprint& theirs, std::uint64_t their_length);
  void report(const Completion& completion) { completions_.push(completion); }

  template <class F>
  void for_each(F f) {  // f may remove the message it is given
    for (Message& message : messages_) {
      if (message.state != MessageState::free) f(message);
    }
  }

  // How many announcements of the peer wait for an op.
  std::uint32_t early(Rank peer) const { return early_[static_cast<std::size_t>(peer)]; }
  Stash& stash() { return stash_; }
  std::size_t ended() const { return completions_.size(); }
  std::size_t take(std::span<Completion> into);

 private:
  Message* find(const TagTable& table, Rank peer, const Tag& tag);
  TagTable& table(const Message& message) { return sends(message.state) ? sends_ : receives_; }
  std::uint32_t& early_count(const Message& message) {
    return early_[static_cast<std::size_t>(message.op.peer)];
  }

  std::deque<Message> messages_;
  std::vector<std::uint32_t> free_;
  TagTable sends_, receives_;
  std::vector<std::uint32_t> early_;  // by rank
  Fifo<Completion> completions_;
  Stash stash_;
  std::uint64_t sequence_ = 0;
};

}  // namespace strata::stream
