#include "ccl/runtime/scratch_pool.hpp"

#include <algorithm>
#include <bit>

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
  bytes_kept_ -= found.bytes;
  std::swap(kept_[best], kept_.back());
  kept_.pop_back();
  return found;
}

void ScratchPool::give(Scratch&& scratch) {
  if (!scratch.memory || scratch.bytes > kBytesKeptMax) return;
  while (!kept_.empty() && (kept_.size() >= kPiecesKeptMax || bytes_kept_ + scratch.bytes > kBytesKeptMax)) {
    bytes_kept_ -= kept_.back().bytes;
    kept_.pop_back();
  }
  bytes_kept_ += scratch.bytes;
  kept_.push_back(std::move(scratch));
}

}  // namespace strata
