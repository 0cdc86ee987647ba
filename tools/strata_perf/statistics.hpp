// What becomes of many times.
#pragma once
#include <span>
#include <vector>

#include "tools/strata_perf/options.hpp"

namespace strata::perf {

// `times` of all ranks, one rank after another, `iterations` each: one time an iteration, as `average` says.
std::vector<double> over_ranks(std::span<const double> times, std::size_t iterations, Average average);

double mean(std::span<const double> values);
// The smallest of the values that `percent` of them do not exceed. values: not empty.
double percentile(std::vector<double> values, double percent);

}  // namespace strata::perf
