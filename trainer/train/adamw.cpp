// AdamW, tensor by tensor.
#include "trainer/train/adamw.hpp"

#include <cmath>
#include <utility>

namespace strata::trainer {

Expected<AdamW> AdamW::create(const ParameterTable& table, const OptimizerOptions& options, Device& device) {
  auto mean = device.allocate(table.floats());
  if (!mean.ok()) return mean.status();
  auto variance = device.allocate(table.floats());
  if (!variance.ok()) return variance.status();
  return AdamW(table, options, device, std::move(mean).value(), std::move(variance).value());
}

AdamW::AdamW(const ParameterTable& table, const OptimizerOptions& options, Device& device, DeviceFloats mean,
             DeviceFloats variance)
    : table_(&table),
      options_(options),
      device_(&device),
      mean_(std::move(mean)),
      variance_(std::move(variance)) {}

void AdamW::begin_step(double learning_rate) {
  ++steps_begun_;
  const auto t = static_cast<double>(steps_begun_);
  step_.learning_rate = static_cast<float>(learning_rate);
  step_.beta1 = static_cast<float>(options_.beta1);
  step_.beta2 = static_cast<float>(options_.beta2);
  step_.epsilon = static_cast<float>(options_.epsilon);
  step_.correction1 = static_cast<float>(1 / (1 - std::pow(options_.beta1, t)));
  step_.correction2 = static_cast<float>(1 / (1 - std::pow(options_.beta2, t)));
}

void AdamW::update(std::size_t begin, std::size_t end, double grad_scale, float* weights, float* grads) {
  AdamWOptions step = step_;
  step.grad_scale = static_cast<float>(grad_scale);
  for (const Tensor& tensor : table_->tensors_in(begin, end)) {
    step.weight_decay = tensor.is_matrix() ? static_cast<float>(options_.weight_decay) : 0.0f;
    device_->adamw(tensor.count, step, weights + tensor.offset, grads + tensor.offset,
                   mean_.get() + tensor.offset, variance_.get() + tensor.offset);
  }
}

}  // namespace strata::trainer
