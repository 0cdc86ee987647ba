// The data of a measurement: every element of every rank's input follows from a seed, and so does every
// result.
#pragma once
#include <cstdint>
#include <span>

#include "strata/types.hpp"
#include "tools/strata_perf/test_case.hpp"

namespace strata::perf {

// Values are chosen so that results are exact in whatever order the ranks are combined. Averages of floats
// alone are not; they may differ by two units in the last place.
struct Pattern {
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  bool reduces = true;
  int ranks = 1;
  std::uint64_t seed = 0;

  static constexpr double kScale = 0.5;  // of scaled_sum: exact
};

// Elements [0, count) of the rank's input.
void fill(const Pattern& pattern, Rank owner, std::uint64_t count, void* into);

// How many of the elements at `data` are not what the sources, one after another, say.
std::uint64_t count_wrong(const Pattern& pattern, std::span<const Source> sources, const void* data);

}  // namespace strata::perf
