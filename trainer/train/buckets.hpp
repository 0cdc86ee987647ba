// Gradients that travel together.
#pragma once
#include <cstddef>
#include <vector>

#include "trainer/model/parameters.hpp"

namespace strata::trainer {

// A run of tensors of one layer.
struct Bucket {
  std::size_t begin, end;  // floats
};
// Covers the whole layout, in the order in which backward finishes it. A bucket ends with the first tensor
// that fills it, and with its layer: what several layers had in common would hold up the one that is needed
// first.
std::vector<Bucket> make_buckets(const ParameterTable& table, std::size_t bucket_floats);

}  // namespace strata::trainer
