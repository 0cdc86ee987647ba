#include "tools/strata_perf/buffers.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "strata/memory.hpp"

namespace strata::perf {
namespace {

constexpr std::size_t kPageBytes = 4096;  // also the size of each guard
constexpr std::size_t kCacheLineBytes = 64;
constexpr std::byte kGuard{0x5a};

std::byte* take(std::uint64_t bytes, bool shared) {
  if (!shared) return static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kPageBytes)));
  const Expected<void*> memory = allocate(bytes);
  if (!memory) throw std::bad_alloc();
  return static_cast<std::byte*>(*memory);
}

}  // namespace

void GuardedMemory::Free::operator()(std::byte* memory) const {
  if (shared)
    (void)deallocate(memory);
  else
    ::operator delete(memory, std::align_val_t(kPageBytes));
}

GuardedMemory::GuardedMemory(std::uint64_t bytes, bool shared)
    : bytes_(bytes),
      memory_(take(bytes + 2 * kPageBytes, shared), Free{shared}),
      data_(memory_.get() + kPageBytes) {
  std::memset(memory_.get(), 0, bytes + 2 * kPageBytes);
  std::fill_n(memory_.get(), kPageBytes, kGuard);
  std::fill_n(data_ + bytes, kPageBytes, kGuard);
}

bool GuardedMemory::guards_intact() const {
  const auto intact = [](const std::byte* from) {
    return std::all_of(from, from + kPageBytes, [](std::byte b) { return b == kGuard; });
  };
  return intact(memory_.get()) && intact(data_ + bytes_);
}

void read_all(std::span<const std::byte> range) {
  [[maybe_unused]] static volatile unsigned sink;
  unsigned sum = 0;
  for (std::size_t at = 0; at < range.size(); at += kCacheLineBytes) sum += static_cast<unsigned>(range[at]);
  sink = sum;
}

}  // namespace strata::perf
