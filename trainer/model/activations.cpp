// Cuts one array of floats into the activations.
#include "trainer/model/activations.hpp"

#include <algorithm>

namespace strata::trainer {
namespace {

constexpr std::size_t kLogitFloatsMax = 1 << 24;
constexpr std::size_t kAlignFloats = 16;

class Carver {
 public:
  explicit Carver(float* memory) : memory_(memory) {}
  float* take(std::size_t floats) {
    float* here = memory_ ? memory_ + used_ : nullptr;
    used_ += (floats + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
    return here;
  }
  std::size_t used() const { return used_; }

 private:
  float* memory_;
  std::size_t used_ = 0;
};

BlockActivations lay_out_block(const ModelShape& shape, std::size_t rows, Carver& carver) {
  const std::size_t narrow = rows * shape.width;
  BlockActivations b;
  b.norm_1 = carver.take(narrow);
  b.mean_1 = carver.take(rows);
  b.rstd_1 = carver.take(rows);
  b.qkv = carver.take(3 * narrow);
  b.log_sum = carver.take(rows * shape.heads);
  b.heads = carver.take(narrow);
  b.middle = carver.take(narrow);
  b.norm_2 = carver.take(narrow);
  b.mean_2 = carver.take(rows);
  b.rstd_2 = carver.take(rows);
  b.up = carver.take(4 * narrow);
  b.activated = carver.take(4 * narrow);
  b.out = carver.take(narrow);
  return b;
}

}  // namespace

std::size_t lay_out(const ModelShape& shape, std::size_t rows, float* memory, Activations& into) {
  Carver carver(memory);
  const std::size_t narrow = rows * shape.width;
  into.embedded = carver.take(narrow);
  into.blocks.clear();
  for (std::size_t layer = 0; layer < shape.layers; ++layer)
    into.blocks.push_back(lay_out_block(shape, rows, carver));
  into.final_norm = carver.take(narrow);
  into.final_mean = carver.take(rows);
  into.final_rstd = carver.take(rows);
  into.logit_rows = std::min(rows, std::max<std::size_t>(1, kLogitFloatsMax / shape.vocabulary));
  into.logits = carver.take(into.logit_rows * shape.vocabulary);
  into.losses = carver.take(into.logit_rows);
  into.backward.residual = carver.take(narrow);
  into.backward.narrow = carver.take(narrow);
  into.backward.wide = carver.take(4 * narrow);
  return carver.used();
}

}  // namespace strata::trainer
