// Memory for buffers: whole pages, touched.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace strata::compare {

using Memory = std::shared_ptr<float>;

// `count` zeros. flags: MAP_PRIVATE, or MAP_SHARED for memory that processes forked later share.
inline Memory map_memory(std::uint64_t count, int flags) {
  const std::uint64_t bytes = std::max<std::uint64_t>(count * sizeof(float), 1);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::exit(3);
  }
  std::memset(memory, 0, bytes);
  return Memory(static_cast<float*>(memory), [bytes](float* m) { ::munmap(m, bytes); });
}

}  // namespace strata::compare
