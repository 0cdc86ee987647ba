// Keeps the bytes of messages that came before their receive was posted, in blocks from one pool.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "ccl/transport/stream/frame.hpp"

namespace strata::stream {

// How much it can hold is limited by the credit of the peers, not here. Blocks are reused, never given back.
class Stash final {
 public:
  static constexpr std::uint32_t kNone = ~0u;
  struct Chain {
    std::uint32_t first = kNone, last = kNone;
    std::uint64_t bytes = 0;
  };

  void append(Chain& chain, std::span<const std::byte> bytes);
  void release(Chain& chain);
  // Calls take(span) with the bytes, piece by piece in order, and releases the chain.
  template <class Take>
  void unload(Chain& chain, Take take) {
    std::uint64_t left = chain.bytes;
    for (std::uint32_t block = chain.first; block != kNone; block = next_[block]) {
      const auto bytes = std::min<std::uint64_t>(left, kStashBlockBytes);
      take(std::span<const std::byte>(at(block), bytes));
      left -= bytes;
    }
    release(chain);
  }
  std::size_t blocks() const { return next_.size(); }  // high-water mark

 private:
  static constexpr std::uint32_t kBlocksPerSlab = 256;
  using Slab = std::array<std::byte, kBlocksPerSlab * kStashBlockBytes>;

  std::byte* at(std::uint32_t block) {
    return slabs_[block / kBlocksPerSlab]->data() + block % kBlocksPerSlab * kStashBlockBytes;
  }
  std::uint32_t take_block();
  void add_slab();

  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<std::uint32_t>
      next_;  // of each block: the one behind it in its chain, or in the list of free ones
  std::uint32_t free_ = kNone;
};

}  // namespace strata::stream
