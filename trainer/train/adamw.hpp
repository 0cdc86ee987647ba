// AdamW over a model's parameters: its two moments, and which tensors decay.
#pragma once
#include <cstdint>

#include "trainer/device/device.hpp"
#include "trainer/model/parameters.hpp"

namespace strata::trainer {

struct OptimizerOptions {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices; vectors (biases, norms) do not decay
};

class AdamW final {
 public:
  static Expected<AdamW> create(const ParameterTable& table, const OptimizerOptions& options, Device& device);

  // A step updates every tensor once, in any order.
  void begin_step(double learning_rate);
  // The tensors between these floats of the layout, with gradients times grad_scale; leaves them zero.
  void update(std::size_t begin, std::size_t end, double grad_scale, float* weights, float* grads);

 private:
  AdamW(const ParameterTable& table, const OptimizerOptions& options, Device& device, DeviceFloats mean,
        DeviceFloats variance);
  const ParameterTable* table_;
  OptimizerOptions options_;
  Device* device_;
  DeviceFloats mean_, variance_;
  std::int64_t steps_begun_ = 0;
  AdamWOptions step_{};  // the one that was begun last
};

}  // namespace strata::trainer
