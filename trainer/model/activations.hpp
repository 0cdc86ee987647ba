// The memory of one pass through the model: what forward keeps for backward, and what backward works in.
#pragma once
#include <cstddef>
#include <vector>

#include "trainer/device/device.hpp"
#include "trainer/model/shape.hpp"

namespace strata::trainer {

// With rows = sequences * sequence and C = width. `out` is the next block's input.
struct BlockActivations {
  float *norm_1, *mean_1, *rstd_1;  // [rows, C], [rows], [rows]
  float *qkv, *log_sum, *heads;     // [rows, 3 C], [rows, heads], [rows, C]
  float* middle;                    // [rows, C]: the residual between attention and MLP
  float *norm_2, *mean_2, *rstd_2;
  float *up, *activated;  // [rows, 4 C]: before and after GELU
  float* out;             // [rows, C]
};

struct BackwardScratch {
  float* residual;  // [rows, C]: gradient of the residual, carried from block to block
  float* narrow;    // [rows, C]
  float* wide;      // [rows, 4 C]
};

struct Activations {
  float* embedded;  // [rows, C]
  std::vector<BlockActivations> blocks;
  float *final_norm, *final_mean, *final_rstd;
  float *logits, *losses;  // [logit_rows, vocabulary], [logit_rows]
  std::size_t logit_rows;  // the head works on so many rows at a time
  BackwardScratch backward;
};

// Points into `memory`; with null memory, only counts. Returns the floats needed.
std::size_t lay_out(const ModelShape& shape, std::size_t rows, float* memory, Activations& into);

}  // namespace strata::trainer
