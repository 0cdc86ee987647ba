// What words in memory of several processes are made of.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace strata::shm {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLineBytes = 128;  // two cache lines: the prefetcher fetches them in pairs

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "words in shared memory must not need a lock of the process");

}  // namespace strata::shm
