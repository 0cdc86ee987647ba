// Copies past the caches.
#pragma once
#include <cstddef>

namespace strata {

// Like memcpy, but the target is not brought into the caches: for what nobody here reads again soon and what
// is larger than they are. Not ordered with other stores until flush_streams().
void copy_streaming(void* into, const void* from, std::size_t bytes);

// Copies one source to several targets in that way. Meanwhile it fetches the first `bytes` of each of `next`
// into the caches, so that memory is read and written at the same time.
void spread_streaming(void* const* into, std::size_t targets, const void* from, std::size_t bytes,
                      const void* const* next, std::size_t sources);

// All that was copied so is visible before any later store of this thread.
void flush_streams();

}  // namespace strata
