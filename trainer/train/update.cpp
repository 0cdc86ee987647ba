// Starts sums, takes what arrives, and updates weights.
#include "trainer/train/update.hpp"

#include <cmath>
#include <numeric>

#include "strata/trace.hpp"
#include "trainer/base/check.hpp"

namespace strata::trainer {

Update::Update(Gpt& gpt, AdamW& optimizer, Peers& peers, const UpdateOptions& options)
    : gpt_(gpt),
      optimizer_(optimizer),
      peers_(peers),
      options_(options),
      buckets_(
          make_buckets(gpt.table(), static_cast<std::size_t>(options.bucket_mb * (1 << 20) / sizeof(float)))),
      squares_(gpt.table().tensors().size()) {
  works_.reserve(buckets_.size());
  under_way_.reserve(buckets_.size());
}

Update::~Update() {
  for (const Work& work : works_) static_cast<void>(work.wait());
}

bool Update::crosses() const { return options_.crossing && options_.clip_norm == 0 && peers_.size() > 1; }

void Update::gradients_ready(std::size_t end) {
  if (!learning_rate_ || (!options_.overlap && end < buckets_.back().end)) return;
  for (; started_ < buckets_.size() && buckets_[started_].end <= end; ++started_) {
    if (started_ == 0) begin_step();
    const Bucket& bucket = buckets_[started_];
    const auto priority = options_.priority ? static_cast<std::int32_t>(started_) : 0;
    under_way_.insert(under_way_.begin(), started_);
    works_.insert(
        works_.begin(),
        peers_.sum(std::span<float>(gpt_.grads() + bucket.begin, bucket.end - bucket.begin), priority));
  }
  if (started_ < buckets_.size()) return;
  started_ = 0;
  learning_rate_.reset();
}

void Update::begin_step() {
  STRATA_TRAINER_CHECK(works_.empty());
  optimizer_.begin_step(*learning_rate_);
  exposed_seconds_ = 0;
}

void Update::weights_needed(std::size_t begin) {
  while (!under_way_.empty() && buckets_[under_way_.front()].end > begin) take_one();
}

void Update::take_one() {
  const auto waiting = Clock::now();
  const auto first = static_cast<std::ptrdiff_t>(Work::wait_any(works_));
  exposed_seconds_ += std::chrono::duration<double>(Clock::now() - waiting).count();
  const Status status = works_[static_cast<std::size_t>(first)].status();
  const Bucket& bucket = buckets_[under_way_[static_cast<std::size_t>(first)]];
  works_.erase(works_.begin() + first);
  under_way_.erase(under_way_.begin() + first);
  if (failure_.ok()) failure_ = status;
  if (!status.ok()) return;
  const auto tensors = gpt_.table().tensors();
  for (const Tensor& tensor : gpt_.table().tensors_in(bucket.begin, bucket.end))
    squares_[static_cast<std::size_t>(&tensor - tensors.data())] =
        gpt_.device().sum_of_squares(tensor.count, gpt_.grads() + tensor.offset);
  if (options_.clip_norm == 0) update(bucket, 1);
  if (works_.empty()) end_step();
}

void Update::update(const Bucket& bucket, double grad_scale) {
  const TraceSpan span("optimizer");
  optimizer_.update(bucket.begin, bucket.end, grad_scale, gpt_.weights(), gpt_.grads());
}

void Update::end_step() {
  const double norm = std::sqrt(std::accumulate(squares_.begin(), squares_.end(), 0.0));
  const double clip = options_.clip_norm;
  if (clip > 0 && std::isfinite(norm))  // else training has diverged, and ends with the weights that it had
    for (const Bucket& bucket : buckets_) update(bucket, norm > clip ? clip / norm : 1);
  gpt_.device().synchronize();
  report_ = {norm, exposed_seconds_, Clock::now()};
}

Status Update::finish() {
  weights_needed(0);
  return failure_;
}

}  // namespace strata::trainer
