// Cuts the layout into buckets.
#include "trainer/train/buckets.hpp"

namespace strata::trainer {

std::vector<Bucket> make_buckets(const ParameterTable& table, std::size_t bucket_floats) {
  std::vector<Bucket> buckets;
  const auto tensors = table.tensors();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t end = tensors[i].offset + tensors[i].count;
    const bool ends_layer = i + 1 == tensors.size() || tensors[i + 1].layer != tensors[i].layer;
    if (end - begin < bucket_floats && !ends_layer) continue;
    buckets.push_back({begin, end});
    begin = end;
  }
  return buckets;
}

}  // namespace strata::trainer
