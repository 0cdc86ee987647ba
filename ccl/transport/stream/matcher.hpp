// The rules of the protocol: what follows when an op is posted, or when the peer's half of a message shows
// up.
#pragma once
#include "ccl/transport/stream/ledger.hpp"
#include "ccl/transport/stream/sender.hpp"

namespace strata::stream {

// A message goes one of two ways:
//   eager       data on credit; into the posted receive, or into the stash until there is one.
//   announced   the receiver says `ready`, then come the fragments. Large ones always go this way: the
//   receiver is
//               ready as soon as it has posted. Small ones do when there is no credit; the receiver is ready
//               when it has posted and seen the request.
// A sender that must wait for a ready sends a request, so both sides know of each other whatever comes first.
// All but data goes in the first stream to a peer and so stays in order; the fragments of a message go in
// any, so a message may be complete before the request for it comes. Mismatches, of fingerprint or length,
// are found by whoever has both halves, and answered if the other side cannot have found out: a request by a
// ready, a ready by a request. An eager send may have completed before; then the receiver alone reports it.
class Matcher final {
 public:
  Matcher(Ledger& ledger, Listener& listener) : ledger_(ledger), listener_(listener) {}

  void post_send(const WireOp& op, Sender& sender);
  void post_receive(const WireOp& op, Sender& sender);
  // The peer is lost. Its messages that have arrived whole still count.
  void post_to_lost(const WireOp& op, Sender& sender);

  // The receive of a message that has arrived whole, without a post. false: there is none, or it is another.
  bool take_arrived(const WireOp& op, Sender& sender);

  // Frames from the peer. An error breaks the peer.
  Status on_ready(Rank peer, const FrameHeader& header, Sender& sender);
  Status on_request(Rank peer, const FrameHeader& header, Sender& sender);
  // Where the payload goes; null: nowhere.
  Expected<Message*> begin_data(Rank peer, const FrameHeader& header, Sender& sender);
  void end_data(const FrameHeader& header, Message* message, Sender& sender);

  // Let go of all messages of the scope, or of a lost peer.
  template <class SenderOf>
  void cancel(const CancelScope& scope, SenderOf sender_of) {
    ledger_.for_each([&](Message& message) {
      if (!scope.covers(message.op.peer, message.op.tag)) return;
      forget(message, ErrorCode::aborted, sender_of(message.op.peer));
    });
  }
  void lose(Rank peer, Sender& sender);

 private:
  Status keep_early(MessageState state, Rank peer, const FrameHeader& header);
  void forget(Message& message, ErrorCode error, Sender& sender);
  void receive_stashed(Message& message, const WireOp& op, Sender& sender);
  void unload_stash(Message& message);
  Expected<Message*> begin_eager(Rank peer, const FrameHeader& header, Sender& sender);
  Expected<Message*> begin_announced(Rank peer, const FrameHeader& header);
  bool wanted(Rank peer, const FrameHeader& header) {
    return listener_.unexpected(peer, header.tag, header.fingerprint) == Listener::Verdict::keep;
  }

  Ledger& ledger_;
  Listener& listener_;
};

}  // namespace strata::stream
