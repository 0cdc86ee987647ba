// A step's way from this rank's gradients to new weights, bucket by bucket: summed over the ranks as soon as
// backward allows, and given to the optimizer as soon as the sum is there.
#pragma once
#include <chrono>
#include <optional>
#include <vector>

#include "trainer/model/gpt.hpp"
#include "trainer/train/adamw.hpp"
#include "trainer/train/buckets.hpp"
#include "trainer/train/peers.hpp"

namespace strata::trainer {

// Whatever is chosen here, the weights become the same, to the last bit.
struct UpdateOptions {
  double bucket_mb = 4;
  bool overlap = true;   // sums begin during backward; else after it
  bool priority = true;  // those of front layers go first, which forward needs first
  bool crossing = true;  // forward goes on as far as weights are new; else when all are
  double clip_norm = 0;  // of the whole gradient, so no weight is new before all sums are there; 0: any
};

class Update final : public PassListener {
 public:
  using Clock = std::chrono::steady_clock;
  struct Report {
    double grad_norm = 0;        // of the whole gradient, summed over the ranks, before clipping
    double exposed_seconds = 0;  // spent waiting for sums
    Clock::time_point at;        // when the last weight was new
  };

  // All outlive this.
  Update(Gpt& gpt, AdamW& optimizer, Peers& peers, const UpdateOptions& options);
  // Waits for what is still being summed: the gradients may go after it.
  ~Update() override;
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  // May the next forward begin before finish()?
  bool crosses() const;
  std::size_t bucket_count() const { return buckets_.size(); }

  // The next backward leaves whole gradients, those of all micro-batches: sum them, and take a step.
  void expect(double learning_rate) { learning_rate_ = learning_rate; }
  void gradients_ready(std::size_t end) override;
  // Blocks until these weights are new. Where that fails they stay old, and finish() says why.
  void weights_needed(std::size_t begin) override;
  // Blocks until all weights are new, and returns the communicator's first error.
  Status finish();
  // Of the step that ended last: by finish(), or by weights_needed(0) if crosses().
  const Report& report() const { return report_; }
  const Status& status() const { return failure_; }

 private:
  void begin_step();
  void take_one();  // of the sums under way, the first to arrive
  void update(const Bucket& bucket, double grad_scale);
  void end_step();

  Gpt& gpt_;
  AdamW& optimizer_;
  Peers& peers_;
  const UpdateOptions options_;
  const std::vector<Bucket> buckets_;
  std::optional<double> learning_rate_;  // of a step that is expected
  std::size_t started_ = 0;              // buckets of this step whose sums are under way or there
  // Sums under way, and their buckets, in the order in which forward needs them.
  std::vector<Work> works_;
  std::vector<std::size_t> under_way_;
  std::vector<double>
      squares_;  // of each tensor's gradient: their sum does not depend on buckets or arrivals
  double exposed_seconds_ = 0;
  Report report_;
  Status failure_;
};

}  // namespace strata::trainer
