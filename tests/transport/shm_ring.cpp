// Rings against a queue, whatever the sizes; and no access outside whatever stands in the shared words.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <vector>

#include "ccl/transport/shm/ring.hpp"
#include "ccl/transport/shm/segment.hpp"

namespace strata::shm {
namespace {

// A ring in memory of its own, so that a sanitizer sees every byte outside.
struct OwnRing {
  explicit OwnRing(std::uint32_t size) : bytes(size), ring{&control, bytes.data(), size} {}
  RingControl control{};
  std::vector<std::byte> bytes;
  std::atomic<std::uint32_t> sleeping{0};
  Fd bell{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  RingMemory ring;
  Doorbell doorbell() { return {&sleeping, bell.get()}; }
  bool rung() {
    std::uint64_t count = 0;
    return ::read(bell.get(), &count, sizeof count) == sizeof count;
  }
};

using Random = std::mt19937_64;

std::vector<std::byte> random_bytes(Random& random, std::size_t most) {
  std::vector<std::byte> bytes(random() % (most + 1));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

std::size_t write(RingWriter& writer, std::vector<std::byte>& a, std::vector<std::byte>& b) {
  const iovec parts[] = {{a.data(), a.size()}, {b.data(), b.size()}};
  return writer.write(parts);
}

}  // namespace

TEST_CASE("a ring is a queue of bytes of bounded length") {
  const std::uint64_t seed = GENERATE(1u, 2u);
  const std::uint32_t size = GENERATE(8u, 4096u, 1u << 16);
  CAPTURE(seed, size);
  Random random(seed);
  OwnRing own(size);
  RingWriter writer(own.ring, own.doorbell());
  RingReader reader(own.ring, own.doorbell());
  std::deque<std::byte> model;
  for (int step = 0; step < 300; ++step) {
    std::vector<std::byte> a = random_bytes(random, size), b = random_bytes(random, size / 4);
    const std::size_t written = write(writer, a, b);
    a.insert(a.end(), b.begin(), b.end());
    REQUIRE(written <= a.size());
    REQUIRE(model.size() + written <= size);
    model.insert(model.end(), a.begin(), a.begin() + static_cast<std::ptrdiff_t>(written));
    std::vector<std::byte> out(random() % (size + 1));
    if (random() % 2 == 0) {
      out.resize(reader.read(out));
    } else {
      const std::span<const std::byte> run = reader.peek();
      out.assign(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(std::min(run.size(), out.size())));
      reader.consume(out.size());
    }
    REQUIRE(out.size() <= model.size());
    REQUIRE(std::equal(out.begin(), out.end(), model.begin()));
    model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(out.size()));
    REQUIRE(reader.readable() == !model.empty());
    // Whoever is told to wait for space gets it at the latest when all is read.
    if (written < a.size() && model.empty()) REQUIRE(writer.relieved());
  }
  CHECK(!writer.corrupt());
  CHECK(!reader.corrupt());
}

TEST_CASE("a sleeping reader is woken by bytes, a sleeping writer by space and by nothing else") {
  OwnRing own(4096);
  RingWriter writer(own.ring, own.doorbell());
  RingReader reader(own.ring, own.doorbell());
  std::vector<std::byte> large(8192), none;
  own.sleeping = 1;
  CHECK(write(writer, none, none) == 0);
  CHECK(!own.rung());
  CHECK(write(writer, large, none) == 4096);
  CHECK(own.rung());
  CHECK(own.sleeping == 0);
  CHECK(!writer.relieved());
  own.sleeping = 1;
  reader.peek();
  reader.consume(1);
  CHECK(!reader.peek().empty());
  CHECK(!own.rung());  // one byte is not worth it
  reader.consume(4095);
  CHECK(!reader.readable());
  CHECK(own.rung());
  CHECK(writer.relieved());
  // The writer does not wait any more: reading does not concern it.
  std::vector<std::byte> little(100);
  CHECK(write(writer, little, none) == 100);
  own.sleeping = 1;
  reader.peek();
  reader.consume(100);
  CHECK(!reader.readable());
  CHECK(!own.rung());
}

TEST_CASE("garbage in the shared words is noticed and does no harm") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    OwnRing own(4096);
    RingWriter writer(own.ring, own.doorbell());
    RingReader reader(own.ring, own.doorbell());
    bool noticed = false;
    for (int step = 0; step < 50 && !noticed; ++step) {
      std::vector<std::byte> a = random_bytes(random, 3000), none, out(random() % 5000);
      write(writer, a, none);
      const std::size_t run = reader.peek().size();
      if (run > 0) reader.consume(random() % run);
      if (step % 3 == 0) reader.read(out);
      if (step % 5 == 4) {
        (random() % 2 == 0 ? own.control.head : own.control.tail) = random() >> (random() % 64);
        own.control.starved = static_cast<std::uint32_t>(random());
      }
      own.sleeping = static_cast<std::uint32_t>(random() % 2);
      reader.readable();
      writer.relieved();
      noticed = writer.corrupt() || reader.corrupt();
    }
    if (noticed) {
      std::vector<std::byte> more(100), none;
      if (writer.corrupt()) CHECK(write(writer, more, none) == 0);
      if (reader.corrupt()) CHECK(reader.read(more) == 0);
    }
  }
  OwnRing own(4096);
  RingReader reader(own.ring, own.doorbell());
  own.control.head = 4097;
  CHECK(reader.peek().empty());
  CHECK(reader.corrupt());
}

TEST_CASE("a peer's memory is mapped only if it cannot shrink and has the right size") {
  const SegmentLayout layout{3, 8192};
  const Expected<Segment> segment = Segment::create(layout);
  REQUIRE(segment);
  const Fd file(::dup(segment->fd()));
  CHECK(::ftruncate(file.get(), 0) != 0);
  CHECK(PeerRing::open(file, layout, 2));
  CHECK(!PeerRing::open(file, layout, 3));
  CHECK(!PeerRing::open(file, {4, 8192}, 0));
  CHECK(!PeerRing::open(file, {3, 4096}, 0));
  CHECK(!PeerRing::open(file, {3, 8193}, 0));
  CHECK(!PeerRing::open(file, {0, 8192}, 0));
  CHECK(!PeerRing::open(file, {std::numeric_limits<std::uint32_t>::max(), 8192}, 0));
  const Fd unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(unsealed.get(), static_cast<off_t>(layout.bytes())) == 0);
  CHECK(!PeerRing::open(unsealed, layout, 0));
  const Fd other(::open("/dev/null", O_RDWR | O_CLOEXEC));
  CHECK(!PeerRing::open(other, layout, 0));
}

TEST_CASE("both sides of a segment see the same rings, and rings do not overlap") {
  const SegmentLayout layout{4, 4096};
  const Expected<Segment> segment = Segment::create(layout);
  REQUIRE(segment);
  const Fd file(::dup(segment->fd()));
  for (std::uint32_t i = 0; i < layout.rings; ++i) {
    const Expected<PeerRing> peer = PeerRing::open(file, layout, i);
    REQUIRE(peer);
    std::memset(peer->ring().bytes, static_cast<int>(i + 1), layout.ring_bytes);
    peer->ring().control->head = i + 1;
    peer->sleeping() = i + 1;
    CHECK(segment->sleeping() == i + 1);
  }
  for (std::uint32_t i = 0; i < layout.rings; ++i) {
    const RingMemory ring = segment->ring(i);
    CHECK(ring.control->head == i + 1);
    for (const std::byte b : std::span(ring.bytes, ring.size)) REQUIRE(b == static_cast<std::byte>(i + 1));
  }
}

}  // namespace strata::shm
