// Copies past the caches.
#pragma once
#include <cstddef>

namespace strata {

// Like memcpy, but the target is not brought into the caches: for what nobody here reads again soon and what
// is larger than they are. Ordered before every later store of this thread.
void copy_streaming(void* into, const void* from, std::size_t bytes);

}  // namespace strata
