// Buckets, and the operations that carry them.
#include "trainer/train/gradient_sync.hpp"

#include <algorithm>

namespace strata::trainer {

std::vector<Bucket> make_buckets(const ParameterTable& table, std::size_t bucket_floats) {
  std::vector<Bucket> buckets;
  std::size_t begin = 0;
  for (const Tensor& tensor : table.tensors()) {
    const std::size_t end = tensor.offset + tensor.count;
    const bool is_last = &tensor == &table.tensors().back();
    if (end - begin < bucket_floats && !is_last) continue;
    buckets.push_back({begin, end});
    begin = end;
  }
  return buckets;
}

GradientSync::GradientSync(const ParameterTable& table, float* grads, double bucket_mb, Peers& peers)
    : buckets_(make_buckets(table, static_cast<std::size_t>(bucket_mb * (1 << 20) / sizeof(float)))),
      grads_(grads),
      peers_(peers) {
  works_.reserve(buckets_.size());
}

void GradientSync::gradients_ready(std::size_t end) {
  while (works_.size() < buckets_.size() && buckets_[works_.size()].end <= end) {
    const Bucket& bucket = buckets_[works_.size()];
    works_.push_back(peers_.sum(std::span<float>(grads_ + bucket.begin, bucket.end - bucket.begin)));
  }
}

Status GradientSync::finish() {
  Status first;
  for (const Work& work : works_) {
    Status status = work.wait();
    if (first.ok()) first = std::move(status);
  }
  works_.clear();
  return first;
}

}  // namespace strata::trainer
