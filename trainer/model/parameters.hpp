// Where each tensor of the model lies in one flat array of floats: weights, gradients and optimizer state all
// have this layout. It is the order in which backward finishes the gradients, so "finished up to here" is one
// number.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/model/shape.hpp"

namespace strata::trainer {

// A transformer block's tensors, in the order of the layout. Matrices are [in, out], as in Hugging Face's
// GPT-2.
enum class BlockTensor {
  down_weight,
  down_bias,
  up_weight,
  up_bias,
  norm_2_weight,
  norm_2_bias,
  projection_weight,
  projection_bias,
  qkv_weight,
  qkv_bias,
  norm_1_weight,
  norm_1_bias
};
inline constexpr std::size_t kBlockTensors = 12;
enum class ModelTensor { final_norm_weight, final_norm_bias, positions, tokens };

struct Tensor {
  std::string name;  // Hugging Face's, e.g. "h.0.attn.c_attn.weight"
  std::vector<std::size_t> dimensions;
  std::size_t offset = 0, count = 0;  // floats
  std::size_t layer = 0;  // 0: the embedding; 1, 2, ...: the blocks; the final norm goes with the last one
  bool is_matrix() const { return dimensions.size() == 2; }
};

class ParameterTable {
 public:
  explicit ParameterTable(const ModelShape& shape);
  const ModelShape& shape() const { return shape_; }
  std::span<const Tensor> tensors() const { return tensors_; }
  std::size_t floats() const { return floats_; }    // with the gaps between tensors
  std::size_t parameters() const;                   // without
  const Tensor* find(std::string_view name) const;  // null if there is none
  std::span<const Tensor> tensors_in(std::size_t begin, std::size_t end) const;  // that begin in these floats
  const Tensor& at(std::size_t layer, BlockTensor which) const;
  const Tensor& at(ModelTensor which) const;

 private:
  void add(std::string name, std::size_t layer, std::vector<std::size_t> dimensions);
  ModelShape shape_;
  std::vector<Tensor> tensors_;
  std::size_t floats_ = 0;
};

}  // namespace strata::trainer
