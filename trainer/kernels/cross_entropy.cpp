// Softmax and cross-entropy in one: the loss of each row, and the gradient in the place of the logits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer/kernels/cross_entropy.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which says for what each pass compiles.
#include <cmath>

#include "trainer/kernels/kernels.hpp"
#include "trainer/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

constexpr float kLowest = -3.0e38f;

void cross_entropy(Range rows, std::size_t vocabulary, const std::int32_t* targets, float grad_scale,
                   float* logits, float* losses) {
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    float* x = logits + row * vocabulary;
    const auto target = static_cast<std::size_t>(targets[row]);
    const float target_logit = x[target];
    Floats largest = splat(kLowest), sum = splat(0);
    for_vectors(0, vocabulary, [&](auto vector, std::size_t i) HWY_ATTR {
      largest = hn::Max(largest, vector.load_or(largest, x + i));
    });
    const float top = max_of(largest);
    for_vectors(0, vocabulary, [&](auto vector, std::size_t i) HWY_ATTR {
      const Floats e = vector.only(hn::Exp(kFloats, hn::Sub(vector.load(x + i), splat(top))));
      sum = hn::Add(sum, e);
      vector.store(e, x + i);
    });
    const float total = sum_of(sum);
    losses[row] = std::log(total) - (target_logit - top);
    if (grad_scale == 0) continue;
    const Floats scale = splat(grad_scale / total);
    for_vectors(0, vocabulary, [&](auto vector, std::size_t i) HWY_ATTR {
      vector.store(hn::Mul(vector.load(x + i), scale), x + i);
    });
    x[target] -= grad_scale;
  }
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::trainer::kernels {
HWY_EXPORT(cross_entropy);

void cross_entropy(Range rows, std::size_t vocabulary, const std::int32_t* targets, float grad_scale,
                   float* logits, float* losses) {
  HWY_DYNAMIC_DISPATCH(cross_entropy)(rows, vocabulary, targets, grad_scale, logits, losses);
}
}  // namespace strata::trainer::kernels
#endif
