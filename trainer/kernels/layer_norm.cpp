// LayerNorm by rows, forward and backward (Ba, Kiros & Hinton 2016).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/kernels/layer_norm.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which says for what each pass compiles.
#include <cmath>

#include "trainer/kernels/kernels.hpp"
#include "trainer/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

constexpr float kEpsilon = 1e-5f;  // GPT-2's

void layer_norm(Range rows, const LayerNorm& norm, const float* all_x, float* all_out) {
  const auto width = static_cast<float>(norm.width);
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const float* x = all_x + row * norm.width;
    float* out = all_out + row * norm.width;
    Floats sum = splat(0), squares = splat(0);
    for_vectors(0, norm.width,
                [&](auto vector, std::size_t i) HWY_ATTR { sum = hn::Add(sum, vector.load(x + i)); });
    const float mean = sum_of(sum) / width;
    for_vectors(0, norm.width, [&](auto vector, std::size_t i) HWY_ATTR {
      const Floats d = vector.only(hn::Sub(vector.load(x + i), splat(mean)));
      squares = hn::MulAdd(d, d, squares);
    });
    const float rstd = 1.0f / std::sqrt(sum_of(squares) / width + kEpsilon);
    for_vectors(0, norm.width, [&](auto vector, std::size_t i) HWY_ATTR {
      const Floats normal = hn::Mul(hn::Sub(vector.load(x + i), splat(mean)), splat(rstd));
      vector.store(hn::MulAdd(normal, vector.load(norm.weight + i), vector.load(norm.bias + i)), out + i);
    });
    norm.mean[row] = mean;
    norm.rstd[row] = rstd;
  }
}

void layer_norm_backward(Range rows, const LayerNorm& norm, const float* all_x, const float* all_grad_out,
                         float* all_grad_x) {
  const auto width = static_cast<float>(norm.width);
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    const float* x = all_x + row * norm.width;
    const float* grad_out = all_grad_out + row * norm.width;
    float* grad_x = all_grad_x + row * norm.width;
    const Floats mean = splat(norm.mean[row]), rstd = splat(norm.rstd[row]);
    Floats sum = splat(0), sum_along = splat(0);
    for_vectors(0, norm.width, [&](auto vector, std::size_t i) HWY_ATTR {
      const Floats grad = hn::Mul(vector.load(grad_out + i), vector.load(norm.weight + i));
      const Floats normal = hn::Mul(hn::Sub(vector.load(x + i), mean), rstd);
      sum = hn::Add(sum, grad);
      sum_along = hn::MulAdd(grad, normal, sum_along);
    });
    const Floats average = splat(sum_of(sum) / width), along = splat(sum_of(sum_along) / width);
    for_vectors(0, norm.width, [&](auto vector, std::size_t i) HWY_ATTR {
      const Floats grad = hn::Mul(vector.load(grad_out + i), vector.load(norm.weight + i));
      const Floats normal = hn::Mul(hn::Sub(vector.load(x + i), mean), rstd);
      const Floats through = hn::Sub(hn::Sub(grad, average), hn::Mul(normal, along));
      vector.store(hn::MulAdd(through, rstd, vector.load(grad_x + i)), grad_x + i);
    });
  }
}

void layer_norm_weight_grad(Range columns, std::size_t rows, const LayerNorm& norm, const float* x,
                            const float* grad_out, float* weight_grad, float* bias_grad) {
  for_vectors(columns.begin, columns.end, [&](auto vector, std::size_t i) HWY_ATTR {
    Floats weight = vector.load(weight_grad + i), bias = vector.load(bias_grad + i);
    for (std::size_t row = 0, at = i; row < rows; ++row, at += norm.width) {
      const Floats grad = vector.load(grad_out + at);
      const Floats normal =
          hn::Mul(hn::Sub(vector.load(x + at), splat(norm.mean[row])), splat(norm.rstd[row]));
      weight = hn::MulAdd(grad, normal, weight);
      bias = hn::Add(bias, grad);
    }
    vector.store(weight, weight_grad + i);
    vector.store(bias, bias_grad + i);
  });
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::trainer::kernels {
HWY_EXPORT(layer_norm);
HWY_EXPORT(layer_norm_backward);
HWY_EXPORT(layer_norm_weight_grad);

void layer_norm(Range rows, const LayerNorm& norm, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(layer_norm)(rows, norm, x, out);
}
void layer_norm_backward(Range rows, const LayerNorm& norm, const float* x, const float* grad_out,
                         float* grad_x) {
  HWY_DYNAMIC_DISPATCH(layer_norm_backward)(rows, norm, x, grad_out, grad_x);
}
void layer_norm_weight_grad(Range columns, std::size_t rows, const LayerNorm& norm, const float* x,
                            const float* grad_out, float* weight_grad, float* bias_grad) {
  HWY_DYNAMIC_DISPATCH(layer_norm_weight_grad)(columns, rows, norm, x, grad_out, weight_grad, bias_grad);
}
}  // namespace strata::trainer::kernels
#endif
