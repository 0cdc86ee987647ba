#include "tools/strata_perf/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace strata::perf {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

double percentile(std::vector<double> values, double percent) {
  const double position = std::ceil(percent / 100 * static_cast<double>(values.size())) - 1;
  const auto index = static_cast<std::ptrdiff_t>(std::max(position, 0.0));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

std::vector<double> over_ranks(std::span<const double> times, std::size_t iterations, Average average) {
  std::vector<double> result(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(iterations));
  if (average == Average::rank0) return result;
  const std::size_t ranks = times.size() / iterations;
  for (std::size_t r = 1; r < ranks; ++r)
    for (std::size_t i = 0; i < iterations; ++i) {
      const double time = times[r * iterations + i];
      if (average == Average::min) result[i] = std::min(result[i], time);
      if (average == Average::max) result[i] = std::max(result[i], time);
      if (average == Average::mean) result[i] += time;
    }
  if (average == Average::mean)
    for (double& time : result) time /= static_cast<double>(ranks);
  return result;
}

}  // namespace strata::perf
