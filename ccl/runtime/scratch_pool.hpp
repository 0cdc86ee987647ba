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
  static constexpr std::uint64_t kBytesKeptMax = 64 << 20;
  static constexpr std::size_t kPiecesKeptMax = 16;

  // At least `bytes`, contents undefined; nothing for 0.
  Scratch take(std::uint64_t bytes);
  void give(Scratch&& scratch);

 private:
  std::vector<Scratch> kept_;
  std::uint64_t bytes_kept_ = 0;
};

}  // namespace strata
