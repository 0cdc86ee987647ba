#include "ccl/transport/shm/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "ccl/base/check.hpp"
#include "ccl/base/errno_status.hpp"

namespace strata::shm {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr unsigned kNoExecSeal =
    0x8;  // MFD_NOEXEC_SEAL, Linux 6.3; some systems insist on it, older ones refuse it

Expected<Mapping> map(const Fd& file, std::size_t offset, std::size_t bytes) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(offset));
  if (at == MAP_FAILED) return errno_status("mmap", fmt::format("{} bytes of shared memory", bytes));
  return Mapping(at, bytes);
}

SegmentHeader& header(const Mapping& memory) { return *reinterpret_cast<SegmentHeader*>(memory.get()); }

RingControl* control(const Mapping& memory, std::uint32_t index) {
  return reinterpret_cast<RingControl*>(memory.get() + sizeof(SegmentHeader)) + index;
}

}  // namespace

Expected<Fd> make_memory_file(std::size_t bytes) {
  Fd file(::memfd_create("strata", MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal));
  if (!file.valid() && errno == EINVAL) file.reset(::memfd_create("strata", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return errno_status("memfd_create", "shared memory between ranks");
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    return errno_status("ftruncate", fmt::format("{} bytes of shared memory", bytes));
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0)
    return errno_status("fcntl(F_ADD_SEALS)", "shared memory");
  return file;
}

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
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) return errno_status("fstat", "a peer's shared memory");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
      static_cast<std::uint64_t>(state.st_size) != layout.bytes())
    return Status(ErrorCode::internal,
                  fmt::format("its shared memory is no sealed memory file of {} bytes (size {}, seals {:#x})",
                              layout.bytes(), state.st_size, seals));
  Expected<Mapping> words = map(file, 0, layout.control_bytes());
  if (!words) return words.status();
  Expected<Mapping> bytes = map(file, layout.ring_offset(index), layout.ring_bytes);
  if (!bytes) return bytes.status();
  return PeerRing(std::move(*words), std::move(*bytes), index, layout.ring_bytes);
}

std::atomic<std::uint32_t>& PeerRing::sleeping() const { return header(control_).sleeping; }

RingMemory PeerRing::ring() const { return {control(control_, index_), bytes_.get(), ring_bytes_}; }

}  // namespace strata::shm
