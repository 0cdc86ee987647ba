// The size of a GPT-2 model.
#pragma once
#include <cstddef>

namespace strata::trainer {

struct ModelShape {
  std::size_t layers = 4, heads = 4, width = 128;
  std::size_t sequence = 128;    // positions it has weights for
  std::size_t vocabulary = 256;  // bytes
  std::size_t head_width() const { return width / heads; }
  bool operator==(const ModelShape&) const = default;
};

}  // namespace strata::trainer
