// The linear layer y = x w + b (+ residual), with w as [in, out].
#pragma once
#include "trainer/device/device.hpp"

namespace strata::trainer {

struct LinearShape {
  std::size_t rows, in, out;
};

inline void linear(Device& device, const LinearShape& s, const float* x, const float* weight,
                   const float* bias, const float* residual, float* y) {
  device.fill_rows(s.rows, s.out, bias, residual, y);
  const auto rows = static_cast<std::int64_t>(s.rows), in = static_cast<std::int64_t>(s.in);
  device.multiply({false, false, true, rows, static_cast<std::int64_t>(s.out), in}, x, weight, y);
}

// grad_x is overwritten; the weight's and the bias's gradients are added to.
inline void linear_backward(Device& device, const LinearShape& s, const float* x, const float* weight,
                            const float* grad_y, float* grad_x, float* weight_grad, float* bias_grad) {
  const auto rows = static_cast<std::int64_t>(s.rows), in = static_cast<std::int64_t>(s.in);
  const auto out = static_cast<std::int64_t>(s.out);
  device.multiply({true, false, true, in, out, rows}, x, grad_y, weight_grad);
  device.add_column_sums(s.rows, s.out, grad_y, bias_grad);
  device.multiply({false, true, false, rows, in, out}, grad_y, weight, grad_x);
}

}  // namespace strata::trainer
