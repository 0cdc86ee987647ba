// Scratch memory that is kept from run to run: mapping it anew each time would cost more than many
// operations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata {

struct Scratch {
  std::unique_ptr<std::byte[]> memory;
  std::uint64_t bytes = 0;
};

class ScratchPool final {
 public:
  static constexpr std::size_t kPiecesKeptMax = 16;

  ScratchPool() = default;
  ~ScratchPool();
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;
  // At least `bytes`, contents undefined; nothing for 0.
  Scratch take(std::uint64_t bytes);
  // Kept as far as the process's MemoryBudget goes.
  void give(Scratch&& scratch);

 private:
  void drop_last();

  std::vector<Scratch> kept_;
};

}  // namespace strata
