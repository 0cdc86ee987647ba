#include "tools/strata_perf/sampling.hpp"

#include <algorithm>

namespace strata::perf {
namespace {

constexpr double kCallUsMin = 0.01;
constexpr double kSampleUsMax = 20'000;  // of a sample with more than one call
constexpr int kSamplesMin = 9, kSamplesMax = 400;
constexpr double kWarmupShare = 0.15;  // of the time for the samples
constexpr int kWarmupsMax = 50;

// What makes the clock and the first call's start small beside the sample.
int calls_for(std::uint64_t bytes) {
  if (bytes <= 1 << 10) return 32;
  if (bytes <= 16 << 10) return 8;
  return bytes <= 256 << 10 ? 2 : 1;
}

}  // namespace

SamplingPlan sampling_plan(std::uint64_t bytes, double call_us, double seconds, bool touched) {
  call_us = std::max(call_us, kCallUsMin);
  SamplingPlan plan;
  plan.calls = touched ? 1 : std::clamp(static_cast<int>(kSampleUsMax / call_us), 1, calls_for(bytes));
  const double fit = seconds * 1e6 / (call_us * plan.calls);
  plan.samples = static_cast<int>(std::clamp<double>(fit, kSamplesMin, kSamplesMax));
  plan.warmups = static_cast<int>(std::clamp<double>(kWarmupShare * fit, 1, kWarmupsMax));
  return plan;
}

}  // namespace strata::perf
