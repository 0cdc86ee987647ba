// Blocks in singly linked chains.
#include "ccl/transport/stream/stash.hpp"

namespace strata::stream {

void Stash::append(Chain& chain, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t used = chain.bytes % kStashBlockBytes;
    if (used == 0) {
      const std::uint32_t block = take_block();
      (chain.first == kNone ? chain.first : next_[chain.last]) = block;
      chain.last = block;
    }
    const auto count = std::min<std::uint64_t>(bytes.size(), kStashBlockBytes - used);
    std::memcpy(at(chain.last) + used, bytes.data(), count);
    chain.bytes += count;
    bytes = bytes.subspan(count);
  }
}

void Stash::release(Chain& chain) {
  if (chain.first != kNone) {
    next_[chain.last] = free_;
    free_ = chain.first;
  }
  chain = {};
}

std::uint32_t Stash::take_block() {
  if (free_ == kNone) add_slab();
  const std::uint32_t block = free_;
  free_ = next_[block];
  next_[block] = kNone;
  return block;
}

void Stash::add_slab() {
  slabs_.push_back(std::make_unique<Slab>());
  for (std::uint32_t i = 0; i < kBlocksPerSlab; ++i) {
    next_.push_back(free_);
    free_ = static_cast<std::uint32_t>(next_.size() - 1);
  }
}

}  // namespace strata::stream
