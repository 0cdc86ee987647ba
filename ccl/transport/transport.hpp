// The contract of everything that moves bytes between two ranks. tests/transport_conformance holds its laws.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/trace/recorder.hpp"
#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata {

namespace shm {
class Neighbours;
}

// Names a message between two ranks, once: the send with this tag meets the receive with it, whichever comes
// first.
struct Tag {
  std::uint64_t operation = 0;
  std::uint32_t communicator = 0;
  std::uint32_t message = 0;  // Schedule::message
  friend bool operator==(const Tag&, const Tag&) = default;
};

// Which messages are let go of: a communicator's, of one of its operations, with one peer.
struct CancelScope {
  std::uint32_t communicator = 0;
  std::optional<std::uint64_t> operation = {};  // nothing: all
  Rank peer = kNoRank;                          // kNoRank: all
  bool covers(Rank with, const Tag& tag) const {
    return tag.communicator == communicator && (!operation || tag.operation == *operation) &&
           (peer == kNoRank || with == peer);
  }
};

// What an operation is, as its caller described it. It travels with every message, so that ranks which called
// different things find out at once and can name both sides. Exact, not a hash.
struct Fingerprint {
  std::uint8_t collective = 0;  // Collective
  std::uint8_t type = 0;        // DataType
  std::uint8_t op = 0;          // ReduceOp
  std::uint8_t flags =
      0;  // bit 0: a v form (count is then a hash of the counts); bits 1-7: the algorithm forced
  Rank root = kNoRank;
  std::uint64_t count = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

enum class WireKind : std::uint8_t { send, recv, recv_reduce };

// into[i] = a[i] (op) b[i]; ccl/compute has them.
using WireReduce = void (*)(void* into, const void* a, const void* b, std::size_t count);

// One message to move. The memory stays valid until the completion; a transport does not touch it afterwards.
struct WireOp {
  WireKind kind = WireKind::send;
  std::uint8_t element_bytes = 1;  // recv_reduce: a power of two up to 16; length is a multiple of it
  std::int32_t priority = 0;       // send: higher goes first among what can be sent
  Rank peer = 0;                   // index among the transport's ranks
  Tag tag;
  Fingerprint fingerprint;
  std::byte* data = nullptr;            // send: source (only read); recv, recv_reduce: target
  const std::byte* addend = nullptr;    // recv_reduce: data = addend (reduce) received; may be data
  std::uint64_t length = 0;             // bytes; may be 0
  WireReduce reduce = nullptr;          // recv_reduce
  std::uint64_t cookie = 0;             // handed back
  trace::Recorder* recorder = nullptr;  // send: told when its first byte goes out; null: nobody asks
};

inline void note_departure(const WireOp& op) {
  if (op.recorder == nullptr) [[likely]]
    return;
  trace::Record r;
  r.time = op.recorder->now();
  r.of.operation = op.tag.operation;
  r.of.bytes = op.length;
  r.communicator = op.tag.communicator;
  r.peer = op.peer;
  r.detail = op.tag.message;
  r.what = static_cast<std::uint8_t>(trace::Direction::send);
  op.recorder->add(trace::Kind::departed, r);
}

struct Completion {
  std::uint64_t cookie = 0;
  ErrorCode error =
      ErrorCode::ok;  // peer_lost; aborted (cancel); mismatch (then `theirs` and `their_length` are set)
  Fingerprint theirs = {};
  std::uint64_t their_length = 0;
};

// Told of messages for which no receive is posted yet. Called from within post() and poll(); must not call
// back.
class Listener {
 public:
  enum class Verdict { keep, discard };
  virtual ~Listener() = default;
  // keep: a receive will come. discard: its communicator has failed or is gone, or never sent such a thing.
  virtual Verdict unexpected(Rank peer, const Tag& tag, const Fingerprint& theirs) = 0;
};

struct Capabilities {
  bool fused_recv_reduce = true;
  std::uint64_t message_bytes_max = ~0ull;  // at least 1024: engines tell each other that much
  std::uint64_t at_once_bytes_max = 0;      // longer ones try_at_once() always refuses; 0: all
};

inline constexpr std::uint32_t kCompletionsPerPollMax = 64;

// All calls come from one thread at a time and none of them blocks.
// Laws: a message is matched by (peer, tag); no message blocks another for want of a receive; every posted op
// completes exactly once, also after cancel or when the peer dies; a failed peer fails only the ops posted to
// it (those posted later complete with peer_lost too, but a receive whose message has arrived still gets it);
// poll does a bounded amount of work. A send's completion says that its memory is free again, not that it was
// received; one whose receiver never comes may stay open until it is cancelled.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Capabilities capabilities() const = 0;
  virtual void post(const WireOp& op) = 0;
  // Does the whole op within the call, when nothing stands in its way: a small send that the wire takes as it
  // is, or a small receive whose message has arrived. true: done, and no completion follows. false: nothing
  // was done for it, and it may be posted; a transport may always say so.
  virtual bool try_at_once(const WireOp&) { return false; }
  // Moves what can be moved and reports what has ended. Returns how many completions were written.
  virtual std::size_t poll(std::span<Completion> completions) = 0;
  // Completes all ops in the scope with `aborted` (at a later poll) and forgets what was kept for it.
  virtual void cancel(const CancelScope& scope) = 0;
  // A descriptor that becomes readable (poll(2)) when poll() may have news, after prepare_to_sleep() returned
  // true; -1: polling only.
  virtual int wait_descriptor() const = 0;
  // Announces that the caller is about to sleep on the descriptor. false: there is news already, do not
  // sleep.
  virtual bool prepare_to_sleep() = 0;
  virtual void woke_up() = 0;  // ends what prepare_to_sleep() announced
  // ok, or why the peer is lost, naming the connection and the system's reason.
  virtual Status peer_status(Rank peer) const = 0;
  // Of a transport through shared memory: what groups of its peers need to work on memory they all have
  // mapped. They sleep and wake with this transport. Null for all others.
  virtual shm::Neighbours* neighbours() { return nullptr; }
};

// All-gather of small strings among all ranks, while connecting. Blocking, with the bootstrap's deadline.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string_view session_key()
      const = 0;  // 32 bytes, the same on all ranks, not known to outsiders
  virtual std::uint32_t milliseconds_left() const = 0;
  virtual Expected<std::vector<std::string>> all_gather(std::string_view mine) = 0;
};

// Makes one kind of transport. Used in this order: descriptor() on each rank, exchanged; reaches() for each
// peer; connect() to the peers chosen for it, on all ranks at once.
class TransportFactory {
 public:
  virtual ~TransportFactory() = default;
  virtual std::string_view name() const = 0;
  // How others find me. Opens what must be open before they look (a listener). Error: not usable on this
  // host, why.
  virtual Expected<std::string> descriptor() = 0;
  virtual bool reaches(std::string_view mine, std::string_view theirs) const = 0;  // symmetric
  // Why not, and the cure, for people; only of descriptors that do not reach each other.
  virtual std::string why_unreachable(std::string_view mine, std::string_view theirs) const = 0;
  // descriptors[r] of every rank; peers: those this transport serves. listener outlives the transport.
  virtual Expected<std::unique_ptr<Transport>> connect(Exchange& exchange,
                                                       std::span<const std::string> descriptors,
                                                       std::span<const Rank> peers, Listener& listener) = 0;
};

}  // namespace strata
