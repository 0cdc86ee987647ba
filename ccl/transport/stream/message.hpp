// One message as this rank knows it: an op of its own, what the peer has told or sent of it, or both.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ccl/transport/stream/frame.hpp"
#include "ccl/transport/stream/stash.hpp"
#include "ccl/transport/transport.hpp"

namespace strata::stream {

enum class MessageState : std::uint8_t {
  free,
  waiting,        // send: posted, requested; the peer's ready is to come
  queued,         // send: may go, is going
  early_ready,    // send: not posted here, but the peer has the receive
  posted,         // receive: posted
  arriving,       // receive: not posted here; its bytes are coming into the stash
  arrived,        // receive: not posted here; all its bytes are in the stash
  early_request,  // receive: not posted here, but the peer has the send and waits for a ready
  late_request,   // receive: completed, but the peer's request is still under way in another stream
};
constexpr bool sends(MessageState s) { return s >= MessageState::waiting && s <= MessageState::early_ready; }
constexpr bool is_op(MessageState s) {
  return s == MessageState::waiting || s == MessageState::queued || s == MessageState::posted;
}
constexpr bool is_early(MessageState s) {
  return s == MessageState::early_ready || s == MessageState::early_request;
}

inline constexpr std::size_t kElementBytesMax = 16;

// Of an element of a fragment that came in pieces: the bytes that have come. Fragments hold whole elements:
// all but a message's last have a length that is a multiple of any element's.
struct Carry {
  std::array<std::byte, kElementBytesMax> bytes;
  std::uint8_t count = 0;
};

struct Message {
  WireOp op;  // early_*, arriv*: only peer, tag, fingerprint and length, and these are the peer's
  MessageState state = MessageState::free;
  bool announced = false;        // a ready for it was sent (receive) or has come (send)
  bool requested = false;        // a request for it was sent (send) or has come (receive)
  bool mismatched = false;       // queued: the peer's ready said something else: theirs
  std::uint32_t index = 0;       // in the ledger
  std::uint32_t generation = 0;  // counts the uses of this place
  std::uint64_t sequence = 0;    // of posts
  std::uint64_t framed = 0;      // bytes in frames that were made (send), or have begun to come (receive)
  std::uint64_t moved = 0;       // bytes that the pipes have taken (send), or were delivered (receive)
  Stash::Chain stashed;          // posted: only while the rest of them is coming
  Fingerprint theirs;
  std::uint64_t their_length = 0;
};

// Names a message without keeping it.
struct MessageHandle {
  std::uint32_t index = ~0u;
  std::uint32_t generation = 0;
};

// Puts a message's bytes from `offset` on where a receive wants them, reducing if it says so. The carry is
// that of the fragment they belong to.
void deliver(const WireOp& op, std::uint64_t offset, std::span<const std::byte> bytes, Carry& carry);

}  // namespace strata::stream
