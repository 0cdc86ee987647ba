// Memory for buffers on which collectives within a host need no copies.
#pragma once
#include <cstddef>
#include <cstdint>

#include "strata/export.h"
#include "strata/status.hpp"

namespace strata {

// `bytes` of zeros, aligned to a page, that the other ranks of this host can map: when all ranks pass such
// buffers to a collective, each works straight on the others' memory. Any part of an allocation will do, and
// it can be used like any other memory. Physical pages are taken when first touched. Belongs to the process,
// not to a communicator. Any thread. Errors: invalid_argument (0 bytes), unavailable (the system refuses).
STRATA_API Expected<void*> allocate(std::size_t bytes);

// Gives it back. No collective on it may be in flight here; after one that failed, the contents are undefined
// until its communicator is destroyed on all ranks. null: nothing. Error: invalid_argument, not the beginning
// of an allocation.
STRATA_API Status deallocate(void* memory);

// What the process keeps for reuse between operations, over all communicators, and the limit of that
// (CommunicatorOptions::memory_mb). Any thread.
struct MemoryUse {
  std::uint64_t kept_bytes = 0, limit_bytes = 0;
};
STRATA_API MemoryUse memory_use();

}  // namespace strata
