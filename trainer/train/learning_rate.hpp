// The learning rate of each step: a linear warm-up, then half a cosine down to the minimum.
#pragma once
#include <cmath>
#include <cstdint>

namespace strata::trainer {

struct LearningRate {
  double peak = 1e-3, minimum = 1e-4;
  std::int64_t warmup_steps = 0, steps = 1;

  // step counts from 0. The first step of a warm-up of n has peak / n; step n has the peak, the last the
  // minimum.
  double at(std::int64_t step) const {
    constexpr double kPi = 3.141592653589793;
    if (step < warmup_steps) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
    const std::int64_t descent = steps - 1 - warmup_steps;
    if (step >= steps - 1 && descent > 0) return minimum;
    const double progress =
        descent > 0 ? static_cast<double>(step - warmup_steps) / static_cast<double>(descent) : 0;
    return minimum + 0.5 * (peak - minimum) * (1 + std::cos(kPi * progress));
  }
};

}  // namespace strata::trainer
