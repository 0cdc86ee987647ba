// A GPT-2 on one device: its weights, gradients and activations, the pass forward and the pass back.
#pragma once
#include <cstdint>
#include <memory>

#include "trainer/device/device.hpp"
#include "trainer/model/activations.hpp"
#include "trainer/model/block.hpp"
#include "trainer/model/parameters.hpp"

namespace strata::trainer {

// tokens and targets are [sequences * sequence]; targets[i] is what should follow tokens[i].
struct Batch {
  const std::int32_t *tokens, *targets;
  std::size_t sequences, sequence;
  std::size_t rows() const { return sequences * sequence; }
};

// Told where a pass is, in floats of the parameter layout, which forward goes through from its end to its
// beginning, and backward from its beginning to its end.
class PassListener {
 public:
  virtual ~PassListener() = default;
  // Forward is about to read the weights from `begin` on to the layout's end, and none before.
  virtual void weights_needed(std::size_t begin) = 0;
  // Backward has finished the gradients before `end`, and will not touch them again.
  virtual void gradients_ready(std::size_t end) = 0;
};

class Gpt final {
 public:
  // sequences_max: of one batch. The weights are zero until someone sets them. Error: out_of_memory.
  static Expected<std::unique_ptr<Gpt>> create(const ModelShape& shape, std::size_t sequences_max,
                                               Device& device);
  Gpt(const Gpt&) = delete;
  Gpt& operator=(const Gpt&) = delete;

  const ParameterTable& table() const { return table_; }
  Device& device() const { return device_; }
  float* weights() { return weights_.get(); }
  float* grads() { return grads_.get(); }

  // The sum of the batch's token losses (nats). Adds the gradient of grad_scale times it to grads().
  double forward_backward(const Batch& batch, float grad_scale, PassListener* listener);
  double loss(const Batch& batch);
  // Logits [vocabulary] of what follows the last of `count` tokens; valid until the next call.
  const float* next_logits(const std::int32_t* tokens, std::size_t count);

 private:
  Gpt(const ModelShape& shape, std::size_t sequences_max, Device& device);
  Status allocate();
  BlockPass pass_of(const Batch& batch) const;
  const float* forward_blocks(const Batch& batch, PassListener* listener);  // the last residual
  void final_norm(const Batch& batch, const float* residual);
  double head(const Batch& batch, float grad_scale);
  float* weight(ModelTensor which) { return weights_.get() + table_.at(which).offset; }
  float* grad(ModelTensor which) { return grads_.get() + table_.at(which).offset; }

  Device& device_;
  ParameterTable table_;
  std::size_t rows_max_;
  DeviceFloats weights_, grads_, memory_;
  Activations kept_;
  std::vector<BlockTensors> block_weights_, block_grads_;
};

}  // namespace strata::trainer
