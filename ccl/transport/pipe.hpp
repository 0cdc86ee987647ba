// A byte pipe to one peer and the set of them a transport has: one to each peer, or several side by side.
// StreamTransport speaks one protocol over any kind of pipe: sockets (tcp/) and rings in shared memory
// (shm/).
#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ccl/transport/transport.hpp"
#include "strata/status.hpp"

namespace strata {

// Reliable, ordered bytes in both directions; nothing blocks.
class Pipe {
 public:
  virtual ~Pipe() = default;
  // Takes as many of the bytes, in order, as fit now, and returns how many; fewer than offered: full, ready()
  // tells when it is worth trying again.
  virtual std::size_t write(std::span<const iovec> parts) = 0;
  // Bytes that have arrived and are not consumed, as one contiguous run (there may be more behind it); empty:
  // none now. Valid until the next call on this pipe.
  virtual std::span<const std::byte> peek() = 0;
  virtual void consume(std::size_t bytes) = 0;
  // peek() may leave it at what ready() has told; from here on it looks for itself.
  virtual void look_again() {}
  // Moves up to into.size() arrived bytes, past the pipe's own buffer where it can; returns how many. 0: none
  // now.
  virtual std::size_t read(std::span<std::byte> into) = 0;
  // ok, or why the pipe is broken. Bytes that arrived before it broke can still be read.
  virtual Status status() const = 0;
  // Nothing more will be written: the peer is told so, what it has sent can still be read.
  virtual void close() {}
  // How much goes into the pipe in one piece, which what is more urgent has to wait for; a multiple of 16. It
  // may change.
  virtual std::size_t fragment_bytes() const { return 128 << 10; }
};

// The pipes of one transport. Peers are the transport's ranks.
class PipeSet {
 public:
  virtual ~PipeSet() = default;
  virtual std::span<const Rank> peers() const = 0;
  // Pipes to this peer, at least one. They are independent: what is written to one may arrive before what
  // went to another earlier. A peer that ends, ends them all.
  virtual std::size_t streams(Rank) const { return 1; }
  virtual Pipe& pipe(Rank peer, std::size_t stream) = 0;
  Pipe& pipe(Rank peer) { return pipe(peer, 0); }
  // Peers of whose pipes one may have become readable, broken, or (after a short write) writable; bounded by
  // peers.size(). A peer may be named more than once.
  virtual std::size_t ready(std::span<Rank> peers) = 0;
  // As in Transport.
  virtual int wait_descriptor() const = 0;
  virtual bool prepare_to_sleep() = 0;
  virtual void woke_up() = 0;
  virtual shm::Neighbours* neighbours() { return nullptr; }
};

// The protocol over pipes; see stream/ for its frames and rules.
std::unique_ptr<Transport> make_stream_transport(std::unique_ptr<PipeSet> pipes, Listener& listener);

}  // namespace strata
