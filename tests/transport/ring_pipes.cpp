// One mutex for the whole network. ready() reports each change once, as an edge: what forgets one, hangs.
#include "tests/transport/ring_pipes.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>

#include "ccl/base/check.hpp"
#include "ccl/base/fd.hpp"

namespace strata::test {

class RingNetwork final {
 public:
  RingNetwork(int ranks, RingOptions options)
      : ranks_(static_cast<std::size_t>(ranks)),
        options_(options),
        random_(options.short_io_seed),
        rings_(ranks_ * ranks_ * options.streams),
        sides_(ranks_) {
    for (Ring& ring : rings_) ring.bytes.resize(options.ring_bytes);
    for (Side& side : sides_) {
      side.event = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
      side.news.resize(ranks_, false);
    }
  }

  std::size_t ranks() const { return ranks_; }
  std::size_t streams() const { return options_.streams; }
  int descriptor(Rank rank) const { return sides_[index(rank)].event.get(); }

  std::size_t write(Rank from, Rank to, std::size_t stream, std::span<const iovec> parts) {
    const std::lock_guard lock(mutex_);
    Ring& ring = this->ring(from, to, stream);
    if (sides_[index(from)].closed || sides_[index(to)].closed || ring.closed) return 0;
    std::size_t offered = 0;
    for (const iovec& part : parts) offered += part.iov_len;
    const std::size_t room = ring.bytes.size() - ring.used;
    const std::size_t taken = less(std::min(offered, room));
    std::size_t left = taken;
    for (const iovec& part : parts) {
      const std::size_t count = std::min(left, part.iov_len);
      ring.put({static_cast<const std::byte*>(part.iov_base), count});
      left -= count;
    }
    if (taken > 0) tell(to, from);
    if (taken < offered) (taken < room ? tell(from, to) : void(ring.writer_waits = true));
    return taken;
  }

  std::span<const std::byte> peek(Rank from, Rank to, std::size_t stream) {
    const std::lock_guard lock(mutex_);
    Ring& ring = this->ring(from, to, stream);
    if (held_back(ring, from, to)) return {};
    return std::span<const std::byte>(ring.bytes).subspan(ring.head, less(ring.contiguous()));
  }

  void consume(Rank from, Rank to, std::size_t stream, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Ring& ring = this->ring(from, to, stream);
    STRATA_CHECK(bytes <= ring.contiguous(), bytes, ring.contiguous());
    take(ring, from, to, bytes);
  }

  std::size_t read(Rank from, Rank to, std::size_t stream, std::span<std::byte> into) {
    const std::lock_guard lock(mutex_);
    Ring& ring = this->ring(from, to, stream);
    if (held_back(ring, from, to)) return 0;
    const std::size_t count = less(std::min(into.size(), ring.contiguous()));
    std::copy_n(ring.bytes.data() + ring.head, count, into.data());
    take(ring, from, to, count);
    return count;
  }

  Status status(Rank self, Rank peer, std::size_t stream) {
    const std::lock_guard lock(mutex_);
    const Ring& in = ring(peer, self, stream);
    if (!sides_[index(self)].closed && !sides_[index(peer)].closed && (!in.closed || in.used > 0)) return {};
    return Status(ErrorCode::peer_lost, "ring pipe: rank " + std::to_string(peer) + " has closed it");
  }

  std::size_t news(Rank self, std::span<Rank> peers) {
    const std::lock_guard lock(mutex_);
    auto& news = sides_[index(self)].news;
    std::size_t count = 0;
    for (std::size_t peer = 0; peer < ranks_; ++peer) {
      if (!news[peer]) continue;
      STRATA_CHECK(count < peers.size(), count);
      peers[count++] = static_cast<Rank>(peer);
      news[peer] = false;
    }
    return count;
  }

  void close(Rank rank) {
    const std::lock_guard lock(mutex_);
    sides_[index(rank)].closed = true;
    for (std::size_t peer = 0; peer < ranks_; ++peer) {
      if (peer != index(rank)) tell(static_cast<Rank>(peer), rank);
    }
  }

  void close(Rank from, Rank to, std::size_t stream) {
    const std::lock_guard lock(mutex_);
    ring(from, to, stream).closed = true;
    tell(to, from);
  }

  bool prepare_to_sleep(Rank rank) {
    const std::lock_guard lock(mutex_);
    Side& side = sides_[index(rank)];
    side.asleep = std::find(side.news.begin(), side.news.end(), true) == side.news.end();
    return side.asleep;
  }

  void woke_up(Rank rank) {
    const std::lock_guard lock(mutex_);
    sides_[index(rank)].asleep = false;
    eventfd_t ignored;
    ::eventfd_read(descriptor(rank), &ignored);
  }

 private:
  struct Ring {
    std::vector<std::byte> bytes;
    std::size_t head = 0, used = 0;
    bool writer_waits = false, closed = false;

    std::size_t contiguous() const { return std::min(used, bytes.size() - head); }
    void put(std::span<const std::byte> from) {
      while (!from.empty()) {
        const std::size_t tail = (head + used) % bytes.size();
        const std::size_t count = std::min(from.size(), bytes.size() - tail);
        std::memcpy(bytes.data() + tail, from.data(), count);
        used += count;
        from = from.subspan(count);
      }
    }
  };
  struct Side {
    Fd event;
    bool asleep = false, closed = false;
    std::vector<bool> news;  // by peer
  };

  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  Ring& ring(Rank from, Rank to, std::size_t stream) {
    return rings_[(index(from) * ranks_ + index(to)) * options_.streams + stream];
  }

  // With several streams, what is in one of them is late by chance.
  bool held_back(const Ring& ring, Rank from, Rank to) {
    if (options_.short_io_seed == 0 || options_.streams == 1 || ring.used == 0 || random_() % 4 != 0)
      return false;
    tell(to, from);
    return true;
  }

  std::size_t less(std::size_t bytes) {
    if (options_.short_io_seed == 0 || bytes < 2) return bytes;
    return std::uniform_int_distribution<std::size_t>(1, bytes)(random_);
  }

  void take(Ring& ring, Rank from, Rank to, std::size_t bytes) {
    ring.head = (ring.head + bytes) % ring.bytes.size();
    ring.used -= bytes;
    if (bytes > 0 && ring.writer_waits) {
      ring.writer_waits = false;
      tell(from, to);
    }
  }

  void tell(Rank whom, Rank about) {
    Side& side = sides_[index(whom)];
    side.news[index(about)] = true;
    if (side.asleep) ::eventfd_write(side.event.get(), 1);
    side.asleep = false;
  }

  const std::size_t ranks_;
  const RingOptions options_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<Ring> rings_;  // [(from * ranks + to) * streams + stream]
  std::vector<Side> sides_;
};

namespace {

class RingPipe final : public Pipe {
 public:
  RingPipe(RingNetwork& network, Rank self, Rank peer, std::size_t stream)
      : network_(network), self_(self), peer_(peer), stream_(stream) {}
  std::size_t write(std::span<const iovec> parts) override {
    return network_.write(self_, peer_, stream_, parts);
  }
  std::span<const std::byte> peek() override { return network_.peek(peer_, self_, stream_); }
  void consume(std::size_t bytes) override { network_.consume(peer_, self_, stream_, bytes); }
  std::size_t read(std::span<std::byte> into) override { return network_.read(peer_, self_, stream_, into); }
  Status status() const override { return network_.status(self_, peer_, stream_); }
  void close() override { network_.close(self_, peer_, stream_); }

 private:
  RingNetwork& network_;
  const Rank self_, peer_;
  const std::size_t stream_;
};

class RingPipeSet final : public PipeSet {
 public:
  RingPipeSet(std::shared_ptr<RingNetwork> network, Rank rank) : network_(std::move(network)), rank_(rank) {
    for (Rank peer = 0; peer < static_cast<Rank>(network_->ranks()); ++peer) {
      for (std::size_t stream = 0; stream < network_->streams(); ++stream)
        pipes_.push_back(std::make_unique<RingPipe>(*network_, rank, peer, stream));
      if (peer != rank) peers_.push_back(peer);
    }
  }
  ~RingPipeSet() override { network_->close(rank_); }
  std::span<const Rank> peers() const override { return peers_; }
  std::size_t streams(Rank) const override { return network_->streams(); }
  Pipe& pipe(Rank peer, std::size_t stream) override {
    return *pipes_[static_cast<std::size_t>(peer) * network_->streams() + stream];
  }
  std::size_t ready(std::span<Rank> peers) override { return network_->news(rank_, peers); }
  int wait_descriptor() const override { return network_->descriptor(rank_); }
  bool prepare_to_sleep() override { return network_->prepare_to_sleep(rank_); }
  void woke_up() override { network_->woke_up(rank_); }

 private:
  const std::shared_ptr<RingNetwork> network_;
  const Rank rank_;
  std::vector<std::unique_ptr<RingPipe>> pipes_;
  std::vector<Rank> peers_;
};

}  // namespace

std::shared_ptr<RingNetwork> make_ring_network(int ranks, RingOptions options) {
  return std::make_shared<RingNetwork>(ranks, options);
}

std::unique_ptr<PipeSet> make_ring_pipes(std::shared_ptr<RingNetwork> network, Rank rank) {
  return std::make_unique<RingPipeSet>(std::move(network), rank);
}

}  // namespace strata::test
