// Finds a message by (peer, tag): a flat hash table that allocates only when it holds more than it ever did.
#pragma once
#include <cstdint>
#include <vector>

#include "ccl/transport/transport.hpp"

namespace strata::stream {

class TagTable final {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  TagTable();
  std::uint32_t find(Rank peer, const Tag& tag) const;          // kNone: not there
  void insert(Rank peer, const Tag& tag, std::uint32_t value);  // must not be there
  void erase(Rank peer, const Tag& tag);                        // must be there
  std::size_t size() const { return count_; }

 private:
  struct Slot {
    Tag tag;
    Rank peer = kNoRank;
    std::uint32_t value = kNone;
    bool used() const { return value != kNone; }
  };
  std::size_t home(Rank peer, const Tag& tag) const;
  std::size_t locate(Rank peer, const Tag& tag) const;  // its slot, or the free one where it would go
  std::size_t after(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  std::size_t count_ = 0;
};

}  // namespace strata::stream
