// The optimizer's update and the gradient's norm: one pass over memory each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/kernels/adamw.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which says for what each pass compiles.
#include "trainer/kernels/kernels.hpp"
#include "trainer/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

void adamw(Range elements, const AdamWStep& step, float* weights, float* grads, float* mean,
           float* variance) {
  const Floats scale = splat(step.grad_scale), beta1 = splat(step.beta1), beta2 = splat(step.beta2);
  const Floats rest1 = splat(1 - step.beta1), rest2 = splat(1 - step.beta2);
  const Floats correction2 = splat(step.correction2), epsilon = splat(step.epsilon);
  const Floats rate = splat(step.learning_rate * step.correction1);
  const Floats keep = splat(1 - step.learning_rate * step.weight_decay);
  for_vectors(elements.begin, elements.end, [&](auto vector, std::size_t i) HWY_ATTR {
    const Floats g = hn::Mul(vector.load(grads + i), scale);
    const Floats m = hn::MulAdd(beta1, vector.load(mean + i), hn::Mul(rest1, g));
    const Floats v = hn::MulAdd(beta2, vector.load(variance + i), hn::Mul(rest2, hn::Mul(g, g)));
    const Floats below = hn::Add(hn::Sqrt(hn::Mul(v, correction2)), epsilon);
    const Floats kept = hn::Mul(vector.load(weights + i), keep);
    vector.store(hn::Sub(kept, hn::Div(hn::Mul(rate, m), below)), weights + i);
    vector.store(m, mean + i);
    vector.store(v, variance + i);
    vector.store(splat(0), grads + i);
  });
}

double sum_of_squares(Range elements, const float* x) {
  // Short float sums, added up in double: exact enough for any length, and fast.
  constexpr std::size_t kRun = 1024;
  double total = 0;
  for (std::size_t begin = elements.begin; begin < elements.end; begin += kRun) {
    Floats sum = splat(0);
    for_vectors(begin, begin + kRun < elements.end ? begin + kRun : elements.end,
                [&](auto vector, std::size_t i) HWY_ATTR {
                  const Floats value = vector.load(x + i);
                  sum = hn::MulAdd(value, value, sum);
                });
    total += static_cast<double>(sum_of(sum));
  }
  return total;
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::trainer::kernels {
HWY_EXPORT(adamw);
HWY_EXPORT(sum_of_squares);

void adamw(Range elements, const AdamWStep& step, float* weights, float* grads, float* mean,
           float* variance) {
  HWY_DYNAMIC_DISPATCH(adamw)(elements, step, weights, grads, mean, variance);
}
double sum_of_squares(Range elements, const float* x) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(elements, x);
}
}  // namespace strata::trainer::kernels
#endif
