// The public functions about memory.
#include "strata/memory.hpp"

#include <fmt/format.h>

#include "ccl/base/memory_budget.hpp"
#include "ccl/local/allocation.hpp"

namespace strata {

Expected<void*> allocate(std::size_t bytes) { return Allocations::of_process().allocate(bytes); }

Status deallocate(void* memory) {
  if (memory == nullptr || Allocations::of_process().deallocate(memory)) return {};
  return {
      ErrorCode::invalid_argument,
      fmt::format("deallocate: memory = {} is not what allocate() returned, or was freed before", memory)};
}

MemoryUse memory_use() {
  const MemoryBudget& budget = MemoryBudget::of_process();
  return {budget.used(), budget.limit()};
}

}  // namespace strata
