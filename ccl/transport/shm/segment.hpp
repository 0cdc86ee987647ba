// A rank's memory file with its inbound rings: made by its owner, opened by the peers it was passed to. It
// has no name anywhere, so the kernel frees it with the last process that has it open.
#pragma once
#include <cstdint>

#include "ccl/base/fd.hpp"
#include "ccl/shm/mapping.hpp"
#include "ccl/transport/shm/ring.hpp"
#include "ccl/transport/shm/segment_layout.hpp"
#include "strata/status.hpp"

namespace strata::shm {

// The whole of it, by its owner.
class Segment final {
 public:
  static Expected<Segment> create(SegmentLayout layout);
  int fd() const { return file_.get(); }
  const SegmentLayout& layout() const { return layout_; }
  std::atomic<std::uint32_t>& sleeping() const;
  RingMemory ring(std::uint32_t index) const;

 private:
  Segment(Fd file, Mapping memory, SegmentLayout layout)
      : file_(std::move(file)), memory_(std::move(memory)), layout_(layout) {}

  Fd file_;
  Mapping memory_;
  SegmentLayout layout_;
};

// One ring of a peer's segment, by the peer that writes it. Keeps only the mapping: control words and that
// ring.
class PeerRing final {
 public:
  PeerRing() = default;
  // Believes nothing about the file: its seals and size are checked before it is mapped.
  static Expected<PeerRing> open(const Fd& file, SegmentLayout layout, std::uint32_t index);
  std::atomic<std::uint32_t>& sleeping() const;
  RingMemory ring() const;

 private:
  PeerRing(Mapping control, Mapping bytes, std::uint32_t index, std::uint32_t ring_bytes)
      : control_(std::move(control)), bytes_(std::move(bytes)), index_(index), ring_bytes_(ring_bytes) {}

  Mapping control_, bytes_;
  std::uint32_t index_ = 0, ring_bytes_ = 0;
};

}  // namespace strata::shm
