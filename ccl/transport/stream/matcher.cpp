// What is done when the two halves of a message meet.
#include "ccl/transport/stream/matcher.hpp"

#include <fmt/format.h>

#include "ccl/base/check.hpp"

namespace strata::stream {
namespace {

bool agree(const WireOp& op, const Fingerprint& fingerprint, std::uint64_t length) {
  return op.fingerprint == fingerprint && op.length == length;
}
bool agree(const WireOp& op, const FrameHeader& header) {
  return agree(op, header.fingerprint, header.length);
}
bool agree(const WireOp& op, const WireOp& theirs) { return agree(op, theirs.fingerprint, theirs.length); }

WireOp heard_of(Rank peer, const FrameHeader& header) {
  WireOp op;
  op.peer = peer;
  op.tag = header.tag;
  op.fingerprint = header.fingerprint;
  op.length = header.length;
  return op;
}

Completion mismatch(const WireOp& op, const WireOp& theirs) {
  return {op.cookie, ErrorCode::mismatch, theirs.fingerprint, theirs.length};
}

Status broken_rule(std::string_view what, const FrameHeader& h) {
  return Status(ErrorCode::peer_lost,
                fmt::format("{} (communicator {}, operation {}, message {:#x}, length {}, offset {})", what,
                            h.tag.communicator, h.tag.operation, h.tag.message, h.length, h.offset));
}

}  // namespace

void Matcher::post_send(const WireOp& op, Sender& sender) {
  Message* theirs = ledger_.find_send(op.peer, op.tag);
  if (theirs == nullptr) {
    if (op.length <= kEagerBytesMax) return sender.enqueue(ledger_.add(MessageState::queued, op));
    return sender.request(ledger_.add(MessageState::waiting, op));
  }
  STRATA_CHECK(theirs->state == MessageState::early_ready, "the tag is in use", op.tag.communicator,
               op.tag.operation, op.tag.message);
  if (agree(op, theirs->op)) {
    ledger_.post(*theirs, MessageState::queued, op);
    theirs->announced = true;
    return sender.enqueue(*theirs);
  }
  sender.tell_mismatch(FrameKind::request, op);
  ledger_.report(mismatch(op, theirs->op));
  ledger_.remove(*theirs);
}

void Matcher::post_receive(const WireOp& op, Sender& sender) {
  Message* theirs = ledger_.find_receive(op.peer, op.tag);
  if (theirs == nullptr) {
    Message& message = ledger_.add(MessageState::posted, op);
    message.announced = op.length > kEagerBytesMax;
    if (message.announced) sender.announce(message);
    return;
  }
  STRATA_CHECK(theirs->state != MessageState::posted && theirs->state != MessageState::late_request,
               "the tag is in use", op.tag.communicator, op.tag.operation, op.tag.message);
  if (theirs->state != MessageState::early_request) return receive_stashed(*theirs, op, sender);
  if (agree(op, theirs->op)) {
    ledger_.post(*theirs, MessageState::posted, op);
    theirs->announced = theirs->requested = true;
    return sender.announce(*theirs);
  }
  sender.tell_mismatch(FrameKind::ready, op);
  ledger_.report(mismatch(op, theirs->op));
  ledger_.remove(*theirs);
}

void Matcher::post_to_lost(const WireOp& op, Sender& sender) {
  Message* theirs = op.kind == WireKind::send ? nullptr : ledger_.find_receive(op.peer, op.tag);
  if (theirs != nullptr) return receive_stashed(*theirs, op, sender);
  ledger_.report({.cookie = op.cookie, .error = ErrorCode::peer_lost});
}

bool Matcher::take_arrived(const WireOp& op, Sender& sender) {
  Message* message = ledger_.find_receive(op.peer, op.tag);
  if (message == nullptr || message->state != MessageState::arrived || !agree(op, message->op)) return false;
  sender.owe(eager_cost(op.length));
  message->op = op;
  unload_stash(*message);
  ledger_.remove(*message);
  return true;
}

void Matcher::receive_stashed(Message& message, const WireOp& op, Sender& sender) {
  const bool whole = message.state == MessageState::arrived;
  if (whole) sender.owe(eager_cost(message.op.length));
  if (!agree(op, message.op)) {
    ledger_.report(mismatch(op, message.op));
    return ledger_.remove(message);
  }
  ledger_.post(message, MessageState::posted, op);
  if (!whole) return;  // the rest goes into the stash too, so that it is delivered in one piece
  unload_stash(message);
  ledger_.complete(message, ErrorCode::ok);
}

void Matcher::unload_stash(Message& message) {
  Carry carry;
  ledger_.stash().unload(message.stashed, [&](std::span<const std::byte> bytes) {
    deliver(message.op, message.moved, bytes, carry);
    message.moved += bytes.size();
  });
}

Status Matcher::on_ready(Rank peer, const FrameHeader& header, Sender& sender) {
  Message* message = ledger_.find_send(peer, header.tag);
  if (message == nullptr) return keep_early(MessageState::early_ready, peer, header);
  if (message->announced || message->mismatched || message->state == MessageState::early_ready) {
    return broken_rule("a second ready for a message", header);
  }
  const bool agreed = agree(message->op, header);
  if (message->state == MessageState::waiting) {
    if (!agreed) {
      ledger_.complete_mismatched(*message, header.fingerprint, header.length);
      return {};
    }
    message->state = MessageState::queued;
    message->announced = true;
    sender.enqueue(*message);
    return {};
  }
  if (agreed) return broken_rule("a ready that was not asked for", header);
  message->mismatched = true;  // the data still goes, so that the receiver finds out
  message->theirs = header.fingerprint;
  message->their_length = header.length;
  return {};
}

Status Matcher::on_request(Rank peer, const FrameHeader& header, Sender& sender) {
  Message* message = ledger_.find_receive(peer, header.tag);
  if (message == nullptr) return keep_early(MessageState::early_request, peer, header);
  if (message->state == MessageState::late_request) {
    ledger_.remove(*message);
    return {};
  }
  if (message->state != MessageState::posted || message->requested)
    return broken_rule("a request for a message it has sent before", header);
  if (!agree(message->op, header)) {
    if (!message->announced) sender.tell_mismatch(FrameKind::ready, message->op);
    ledger_.complete_mismatched(*message, header.fingerprint, header.length);
    return {};
  }
  message->requested = true;
  if (message->announced) return {};
  message->announced = true;
  sender.announce(*message);
  return {};
}

Status Matcher::keep_early(MessageState state, Rank peer, const FrameHeader& header) {
  if (!wanted(peer, header)) return {};
  if (ledger_.early(peer) >= kAnnouncementsMax) {
    return broken_rule(
        fmt::format("more than {} announcements that met no operation; the last one", kAnnouncementsMax),
        header);
  }
  ledger_.add(state, heard_of(peer, header));
  return {};
}

Expected<Message*> Matcher::begin_data(Rank peer, const FrameHeader& header, Sender& sender) {
  return header.announced ? begin_announced(peer, header) : begin_eager(peer, header, sender);
}

Expected<Message*> Matcher::begin_eager(Rank peer, const FrameHeader& header, Sender& sender) {
  if (!sender.lend(eager_cost(header.length)))
    return broken_rule("more eager data than it had credit for", header);
  Message* message = ledger_.find_receive(peer, header.tag);
  if (message == nullptr) {
    if (!wanted(peer, header)) return nullptr;
    message = &ledger_.add(MessageState::arriving, heard_of(peer, header));
  } else if (message->state != MessageState::posted || message->framed > 0) {
    return broken_rule("a message for the second time", header);
  } else if (!agree(message->op, header)) {
    ledger_.complete_mismatched(*message, header.fingerprint, header.length);
    return nullptr;
  }
  message->framed = header.fragment;
  return message;
}

// Data of a receive that was cancelled meanwhile goes nowhere.
Expected<Message*> Matcher::begin_announced(Rank peer, const FrameHeader& header) {
  Message* message = ledger_.find_receive(peer, header.tag);
  if (message == nullptr) return nullptr;
  if (message->state != MessageState::posted || !message->announced) {
    return broken_rule("data before the ready for it", header);
  }
  if (!agree(message->op, header)) return broken_rule("other data than the ready was for", header);
  if (header.fragment > message->op.length - message->framed)
    return broken_rule("more fragments than the message has bytes", header);
  const WireOp& op = message->op;
  if (op.kind == WireKind::recv_reduce && (header.offset | header.fragment) % op.element_bytes != 0)
    return broken_rule("a fragment that cuts an element", header);
  message->framed += header.fragment;
  return message;
}

void Matcher::end_data(const FrameHeader& header, Message* message, Sender& sender) {
  const bool stashed = message != nullptr && message->state == MessageState::arriving;
  if (!header.announced && !stashed) sender.owe(eager_cost(header.length));
  if (stashed) {
    message->state = MessageState::arrived;
    return;
  }
  if (message == nullptr) return;
  if (message->stashed.bytes > 0) unload_stash(*message);
  if (message->moved < message->op.length) return;
  const bool request_to_come = header.requested != 0 && !message->requested;
  const Rank peer = message->op.peer;
  ledger_.complete(*message, ErrorCode::ok);
  if (request_to_come) ledger_.add(MessageState::late_request, heard_of(peer, header));
}

void Matcher::forget(Message& message, ErrorCode error, Sender& sender) {
  // The credit of one that is still arriving is given back when the rest of it has been drained.
  if (message.state == MessageState::arrived) sender.owe(eager_cost(message.op.length));
  is_op(message.state) ? ledger_.complete(message, error) : ledger_.remove(message);
}

void Matcher::lose(Rank peer, Sender& sender) {
  ledger_.for_each([&](Message& message) {
    if (message.op.peer == peer && message.state != MessageState::arrived)
      forget(message, ErrorCode::peer_lost, sender);
  });
}

}  // namespace strata::stream
