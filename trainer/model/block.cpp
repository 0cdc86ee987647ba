// A block's two halves, each way.
#include "trainer/model/block.hpp"

#include "trainer/model/linear.hpp"

namespace strata::trainer {

using enum BlockTensor;

BlockTensors block_tensors(const ParameterTable& table, std::size_t layer, float* base) {
  BlockTensors tensors;
  for (std::size_t i = 0; i < kBlockTensors; ++i)
    tensors.pointers[i] = base + table.at(layer, static_cast<BlockTensor>(i)).offset;
  return tensors;
}

void forward_attention(const BlockPass& pass, const BlockTensors& w, const float* in,
                       const BlockActivations& kept) {
  Device& device = pass.device;
  const std::size_t rows = pass.rows(), width = pass.width;
  device.layer_norm(rows, width, in, w[norm_1_weight], w[norm_1_bias], {kept.mean_1, kept.rstd_1},
                    kept.norm_1);
  linear(device, {rows, width, 3 * width}, kept.norm_1, w[qkv_weight], w[qkv_bias], nullptr, kept.qkv);
  device.attention(pass.attention, kept.qkv, kept.heads, kept.log_sum);
  linear(device, {rows, width, width}, kept.heads, w[projection_weight], w[projection_bias], in, kept.middle);
}

void forward_mlp(const BlockPass& pass, const BlockTensors& w, const BlockActivations& kept) {
  Device& device = pass.device;
  const std::size_t rows = pass.rows(), width = pass.width;
  device.layer_norm(rows, width, kept.middle, w[norm_2_weight], w[norm_2_bias], {kept.mean_2, kept.rstd_2},
                    kept.norm_2);
  linear(device, {rows, width, 4 * width}, kept.norm_2, w[up_weight], w[up_bias], nullptr, kept.up);
  device.gelu(rows * 4 * width, kept.up, kept.activated);
  linear(device, {rows, 4 * width, width}, kept.activated, w[down_weight], w[down_bias], kept.middle,
         kept.out);
}

void backward_mlp(const BlockPass& pass, const BlockTensors& w, const BlockTensors& grads,
                  const BlockActivations& kept, const BackwardScratch& scratch) {
  Device& device = pass.device;
  const std::size_t rows = pass.rows(), width = pass.width;
  linear_backward(device, {rows, 4 * width, width}, kept.activated, w[down_weight], scratch.residual,
                  scratch.wide, grads[down_weight], grads[down_bias]);
  device.gelu_backward(rows * 4 * width, kept.up, scratch.wide);
  linear_backward(device, {rows, width, 4 * width}, kept.norm_2, w[up_weight], scratch.wide, scratch.narrow,
                  grads[up_weight], grads[up_bias]);
  device.layer_norm_backward(rows, width, kept.middle, w[norm_2_weight], {kept.mean_2, kept.rstd_2},
                             scratch.narrow, scratch.residual, grads[norm_2_weight], grads[norm_2_bias]);
}

void backward_attention(const BlockPass& pass, const BlockTensors& w, const BlockTensors& grads,
                        const float* in, const BlockActivations& kept, const BackwardScratch& scratch) {
  Device& device = pass.device;
  const std::size_t rows = pass.rows(), width = pass.width;
  linear_backward(device, {rows, width, width}, kept.heads, w[projection_weight], scratch.residual,
                  scratch.narrow, grads[projection_weight], grads[projection_bias]);
  device.attention_backward(pass.attention, kept.qkv, kept.heads, kept.log_sum, scratch.narrow, scratch.wide);
  linear_backward(device, {rows, width, 3 * width}, kept.norm_1, w[qkv_weight], scratch.wide, scratch.narrow,
                  grads[qkv_weight], grads[qkv_bias]);
  device.layer_norm_backward(rows, width, in, w[norm_1_weight], {kept.mean_1, kept.rstd_1}, scratch.narrow,
                             scratch.residual, grads[norm_1_weight], grads[norm_1_bias]);
}

}  // namespace strata::trainer
