#include "tools/strata_perf/sampler.hpp"

#include <algorithm>

#include "tools/strata_perf/clock.hpp"
#include "tools/strata_perf/statistics.hpp"

namespace strata::perf {

Expected<Samples> Sampler::run(std::uint64_t bytes) {
  workspace_.load(0);
  Expected<double> estimate = estimate_us();
  if (!estimate) return estimate.status();
  Samples samples;
  samples.plan = sampling_plan(bytes, *estimate, options_.sampled_s, options_.touched);
  std::vector<double> mine;
  for (int i = -samples.plan.warmups; i < samples.plan.samples; ++i) {
    const Expected<double> time = sample_us(samples.plan.calls, options_.touched);
    if (!time) return time.status();
    if (i >= 0) mine.push_back(*time);
  }
  const Expected<std::vector<double>> all = world_.gather(std::span<const double>(mine));
  if (!all) return all.status();
  samples.times_us = over_ranks(*all, mine.size(), Average::max);
  return samples;
}

// The better of two tries, so that what only the first call does has no say.
Expected<double> Sampler::estimate_us() {
  constexpr int kCalls = 2;
  std::vector<double> mine;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Expected<double> time = sample_us(kCalls, false);
    if (!time) return time.status();
    mine.push_back(*time);
  }
  const Expected<std::vector<double>> all = world_.gather(std::span<const double>(mine));
  if (!all) return all.status();
  const std::vector<double> slowest = over_ranks(*all, mine.size(), Average::max);
  return *std::min_element(slowest.begin(), slowest.end());
}

Expected<double> Sampler::sample_us(int calls, bool touched) {
  if (touched) workspace_.load(0);
  if (Status status = world_.synchronize(); !status.ok()) return status;
  const double begin = now_us();
  for (int i = 0; i < calls; ++i) {
    const Status status =
        start(world_.communicator(), call_, workspace_.input(0), workspace_.output(0)).wait();
    if (!status.ok()) return status;
    call_.root = (call_.root + 1) % world_.size();
  }
  const double time = (now_us() - begin) / calls;
  if (touched) workspace_.read(0);
  return time;
}

}  // namespace strata::perf
