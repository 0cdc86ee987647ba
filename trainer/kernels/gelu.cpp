// GELU in its tanh form, 0.5 x (1 + tanh u) = x sigmoid(2 u), and its derivative.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/kernels/gelu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which says for what each pass compiles.
#include "trainer/kernels/kernels.hpp"
#include "trainer/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

constexpr float kSlope = 2 * 0.7978845608028654f;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715f;
constexpr float kExponentMax = 80;  // beyond it the sigmoid is 0 in float32, and exp stays finite

// sigmoid(kSlope (x + kCubic x^3)), given x^2.
HWY_INLINE Floats gate(Floats x, Floats square) {
  const Floats inner = hn::MulAdd(hn::Mul(square, splat(kCubic)), x, x);
  const Floats exponent = hn::Min(hn::Mul(inner, splat(-kSlope)), splat(kExponentMax));
  return hn::Div(splat(1), hn::Add(splat(1), hn::Exp(kFloats, exponent)));
}

void gelu(Range elements, const float* x, float* out) {
  for_vectors(elements.begin, elements.end, [&](auto vector, std::size_t i) HWY_ATTR {
    const Floats value = vector.load(x + i);
    vector.store(hn::Mul(value, gate(value, hn::Mul(value, value))), out + i);
  });
}

void gelu_backward(Range elements, const float* x, float* grad) {
  for_vectors(elements.begin, elements.end, [&](auto vector, std::size_t i) HWY_ATTR {
    const Floats value = vector.load(x + i), square = hn::Mul(value, value);
    const Floats s = gate(value, square);
    const Floats inner = hn::MulAdd(square, splat(3 * kCubic * kSlope), splat(kSlope));
    const Floats gate_slope = hn::Mul(hn::NegMulAdd(s, s, s), inner);
    vector.store(hn::Mul(vector.load(grad + i), hn::MulAdd(value, gate_slope, s)), grad + i);
  });
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::trainer::kernels {
HWY_EXPORT(gelu);
HWY_EXPORT(gelu_backward);

void gelu(Range elements, const float* x, float* out) { HWY_DYNAMIC_DISPATCH(gelu)(elements, x, out); }
void gelu_backward(Range elements, const float* x, float* grad) {
  HWY_DYNAMIC_DISPATCH(gelu_backward)(elements, x, grad);
}
}  // namespace strata::trainer::kernels
#endif
