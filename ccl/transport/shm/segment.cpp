#include "ccl/transport/shm/segment.hpp"

#include <fmt/format.h>

#include "ccl/base/check.hpp"
#include "ccl/shm/memory_file.hpp"

namespace strata::shm {
namespace {

SegmentHeader& header(const Mapping& memory) { return *reinterpret_cast<SegmentHeader*>(memory.get()); }

RingControl* control(const Mapping& memory, std::uint32_t index) {
  return reinterpret_cast<RingControl*>(memory.get() + sizeof(SegmentHeader)) + index;
}

}  // namespace

Expected<Segment> Segment::create(SegmentLayout layout) {
  STRATA_CHECK(layout.valid(), layout.rings, layout.ring_bytes);
  Expected<Fd> file = make_memory_file(layout.bytes());
  if (!file) return file.status();
  Expected<Mapping> memory = map(*file, 0, layout.bytes());
  if (!memory) return memory.status();
  // A new file is zeros, which is what all its words start as.
  return Segment(std::move(*file), std::move(*memory), layout);
}

std::atomic<std::uint32_t>& Segment::sleeping() const { return header(memory_).sleeping; }

RingMemory Segment::ring(std::uint32_t index) const {
  STRATA_CHECK(index < layout_.rings, index, layout_.rings);
  return {control(memory_, index), memory_.get() + layout_.ring_offset(index), layout_.ring_bytes};
}

Expected<PeerRing> PeerRing::open(const Fd& file, SegmentLayout layout, std::uint32_t index) {
  if (!layout.valid() || index >= layout.rings)
    return Status(ErrorCode::internal, fmt::format("its shared memory has ring {} of {} with {} bytes each",
                                                   index, layout.rings, layout.ring_bytes));
  if (Status status = check_memory_file(file, layout.bytes()); !status.ok()) return status;
  Expected<Mapping> words = map(file, 0, layout.control_bytes());
  if (!words) return words.status();
  Expected<Mapping> bytes = map(file, layout.ring_offset(index), layout.ring_bytes);
  if (!bytes) return bytes.status();
  return PeerRing(std::move(*words), std::move(*bytes), index, layout.ring_bytes);
}

std::atomic<std::uint32_t>& PeerRing::sleeping() const { return header(control_).sleeping; }

RingMemory PeerRing::ring() const { return {control(control_, index_), bytes_.get(), ring_bytes_}; }

}  // namespace strata::shm
