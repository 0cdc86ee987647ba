#include "ccl/runtime/scratch_pool.hpp"

#include <algorithm>
#include <bit>

#include "ccl/base/memory_budget.hpp"

namespace strata {

Scratch ScratchPool::take(std::uint64_t bytes) {
  if (bytes == 0) return {};
  std::size_t best = kept_.size();
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (kept_[i].bytes >= bytes && (best == kept_.size() || kept_[i].bytes < kept_[best].bytes)) best = i;
  if (best == kept_.size()) {
    const std::uint64_t rounded =
        bytes <= 1 << 20 ? std::bit_ceil(bytes) : (bytes + 0xfffff) & ~std::uint64_t{0xfffff};
    return {std::make_unique_for_overwrite<std::byte[]>(rounded), rounded};
  }
  Scratch found = std::move(kept_[best]);
  MemoryBudget::of_process().give(found.bytes);
  std::swap(kept_[best], kept_.back());
  kept_.pop_back();
  return found;
}

void ScratchPool::give(Scratch&& scratch) {
  if (!scratch.memory) return;
  if (kept_.size() >= kPiecesKeptMax) drop_last();
  while (!MemoryBudget::of_process().take(scratch.bytes)) {
    if (kept_.empty()) return;
    drop_last();
  }
  kept_.push_back(std::move(scratch));
}

void ScratchPool::drop_last() {
  MemoryBudget::of_process().give(kept_.back().bytes);
  kept_.pop_back();
}

ScratchPool::~ScratchPool() {
  while (!kept_.empty()) drop_last();
}

}  // namespace strata
