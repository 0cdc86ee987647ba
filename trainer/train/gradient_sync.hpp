// Sums gradients over the ranks while backward still works: a bucket leaves as soon as its last tensor is
// done.
#pragma once
#include <cstddef>
#include <vector>

#include "trainer/model/gpt.hpp"
#include "trainer/train/peers.hpp"

namespace strata::trainer {

// A run of tensors whose gradients travel together.
struct Bucket {
  std::size_t begin, end;  // floats
};
// Covers the whole layout, in the order in which backward finishes it; a bucket ends with the first tensor
// that fills it.
std::vector<Bucket> make_buckets(const ParameterTable& table, std::size_t bucket_floats);

class GradientSync final : public GradientListener {
 public:
  // grads: table.floats() floats that outlive this. peers outlives it too.
  GradientSync(const ParameterTable& table, float* grads, double bucket_mb, Peers& peers);
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  void gradients_ready(std::size_t end) override;
  // Blocks until all gradients are the sums over the ranks. Every rank must have been told that all are
  // ready.
  Status finish();
  std::size_t bucket_count() const { return buckets_.size(); }

 private:
  std::vector<Bucket> buckets_;
  float* grads_;
  Peers& peers_;
  std::vector<Work> works_;  // one a bucket that has left
};

}  // namespace strata::trainer
