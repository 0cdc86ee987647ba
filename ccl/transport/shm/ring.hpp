// One direction of one pair: a ring of bytes with a single writer and a single reader, in memory both have
// mapped.
//
// Each side keeps its own index privately and believes the other's only as far as it is possible: whatever a
// dying peer leaves in the shared words, no access goes outside the ring.
#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "ccl/shm/doorbell.hpp"
#include "ccl/transport/shm/segment_layout.hpp"

namespace strata::shm {

// Bytes are made visible in pieces of this size, so that the other side works on one while the next is
// copied.
inline constexpr std::size_t kPieceBytes = 32 << 10;

struct RingMemory {
  RingControl* control = nullptr;
  std::byte* bytes = nullptr;
  std::uint32_t size = 0;  // a power of two
};

class RingWriter final {
 public:
  RingWriter() = default;
  RingWriter(RingMemory ring, Doorbell reader) : ring_(ring), reader_(reader) {}
  // Takes what fits, and tells a sleeping reader.
  std::size_t write(std::span<const iovec> parts);
  // After a short write: has enough space come free that it is worth trying again? Says so once.
  bool relieved();
  bool corrupt() const { return corrupt_; }

 private:
  std::size_t append(const std::byte* data, std::size_t bytes);
  std::uint64_t space();  // by the reader's index as it is now
  void publish();
  void set_starved(bool starved);

  RingMemory ring_;
  Doorbell reader_;
  std::uint64_t head_ = 0, published_ = 0;
  std::uint64_t tail_seen_ = 0;  // the reader's line is fetched only when this says that the ring is full
  bool starved_ = false;
  bool corrupt_ = false;
};

class RingReader final {
 public:
  RingReader() = default;
  RingReader(RingMemory ring, Doorbell writer) : ring_(ring), writer_(writer) {}
  std::span<const std::byte> peek();
  void consume(std::size_t bytes);
  std::size_t read(std::span<std::byte> into);
  // Is there anything to read? What has been consumed is made known to the writer when there is not.
  bool readable();
  bool corrupt() const { return corrupt_; }

 private:
  std::uint64_t available();  // by the writer's index as last seen; looks again when that says none
  void publish();             // tells the writer, and rings if it sleeps for want of space

  RingMemory ring_;
  Doorbell writer_;
  std::uint64_t tail_ = 0, published_ = 0;
  std::uint64_t head_seen_ = 0;
  bool corrupt_ = false;
};

}  // namespace strata::shm
