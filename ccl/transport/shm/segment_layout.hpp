// What lies where in a rank's memory file: the inbound rings of one rank, one for each peer on its host.
//
//   SegmentHeader | RingControl x rings | (to a page) | ring bytes x rings
//
// The file's owner reads its rings, each peer writes one. Every word has one writer, except `sleeping`.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ccl/shm/words.hpp"

namespace strata::shm {

inline constexpr std::uint32_t kRingBytesMin = kPageBytes;
inline constexpr std::uint32_t kRingBytesMax = 1u << 30;
inline constexpr std::uint32_t kRingsMax = 4096;

struct SegmentHeader {
  // 1: the owner sleeps (or is about to) on its doorbell. Set by the owner, taken by the one who rings.
  alignas(kLineBytes) std::atomic<std::uint32_t> sleeping;
};

struct RingControl {
  // The writer's line. head: bytes ever written. starved: the last write did not fit, the writer waits for
  // space.
  alignas(kLineBytes) std::atomic<std::uint64_t> head;
  std::atomic<std::uint32_t> starved;
  // The reader's line. tail: bytes ever consumed.
  alignas(kLineBytes) std::atomic<std::uint64_t> tail;
};
static_assert(sizeof(SegmentHeader) == kLineBytes && sizeof(RingControl) == 2 * kLineBytes);

struct SegmentLayout {
  std::uint32_t rings = 0;
  std::uint32_t ring_bytes = 0;  // a power of two, whole pages

  std::size_t control_bytes() const {
    const std::size_t used = sizeof(SegmentHeader) + rings * sizeof(RingControl);
    return (used + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  std::size_t ring_offset(std::uint32_t index) const {
    return control_bytes() + static_cast<std::size_t>(index) * ring_bytes;
  }
  std::size_t bytes() const { return ring_offset(rings); }
  bool valid() const {
    return rings >= 1 && rings <= kRingsMax && ring_bytes >= kRingBytesMin && ring_bytes <= kRingBytesMax &&
           (ring_bytes & (ring_bytes - 1)) == 0;
  }
};

}  // namespace strata::shm
