// One transformer block, forward and backward: x + attention(norm(x)), then x + mlp(norm(x)).
#pragma once
#include <array>

#include "trainer/device/device.hpp"
#include "trainer/model/activations.hpp"
#include "trainer/model/parameters.hpp"

namespace strata::trainer {

// Pointers to a block's tensors in an array of weights or gradients.
struct BlockTensors {
  std::array<float*, kBlockTensors> pointers;
  float* operator[](BlockTensor which) const { return pointers[static_cast<std::size_t>(which)]; }
};
BlockTensors block_tensors(const ParameterTable& table, std::size_t layer, float* base);

struct BlockPass {
  Device& device;
  std::size_t width;
  AttentionShape attention;
  std::size_t rows() const { return attention.sequences * attention.sequence; }
};

// The two halves are apart so that each can wait for its own weights; the attention's comes first.
void forward_attention(const BlockPass& pass, const BlockTensors& weights, const float* in,
                       const BlockActivations& kept);
void forward_mlp(const BlockPass& pass, const BlockTensors& weights, const BlockActivations& kept);
// scratch.residual holds the gradient of the block's output, and then of its input. The two halves are apart
// so that gradients can leave between them; the MLP's comes first.
void backward_mlp(const BlockPass& pass, const BlockTensors& weights, const BlockTensors& grads,
                  const BlockActivations& kept, const BackwardScratch& scratch);
void backward_attention(const BlockPass& pass, const BlockTensors& weights, const BlockTensors& grads,
                        const float* in, const BlockActivations& kept, const BackwardScratch& scratch);

}  // namespace strata::trainer
