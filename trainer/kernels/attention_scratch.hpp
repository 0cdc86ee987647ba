// The scratch of one attention head: transposed keys and values, and the scores of one block of queries.
#pragma once
#include <cstddef>

namespace strata::trainer::kernels {

inline constexpr std::size_t kQueryRows =
    32;  // a block's scores stay in the second-level cache up to 4096 keys

struct AttentionScratch {
  AttentionScratch(float* memory, std::size_t sequence, std::size_t head_width)
      : columns((sequence + 15) / 16 * 16),
        keys(memory),
        values(keys + head_width * columns),
        scores(values + head_width * columns),
        score_grads(scores + kQueryRows * columns) {}
  static std::size_t floats(std::size_t sequence, std::size_t head_width) {
    return 2 * (head_width + kQueryRows) * ((sequence + 15) / 16 * 16);
  }
  std::size_t columns;
  float *keys, *values;         // [head_width][columns]
  float *scores, *score_grads;  // [kQueryRows][columns]
};

}  // namespace strata::trainer::kernels
