// The steps of a run, and the loss on text that is never trained on.
#pragma once
#include <cstdint>
#include <optional>

#include "trainer/train/session.hpp"

namespace strata::trainer {

struct StepResult {
  std::int64_t step = 0;  // from 0
  double loss = 0;        // mean over the global batch, nats a token
  double grad_norm = 0;   // before clipping
  double learning_rate = 0;
  double seconds = 0;          // since the end of the one before, or since it began
  double exposed_seconds = 0;  // spent waiting for its sums, which backward and the next forward did not hide
  bool stop = false;           // a rank was asked to
};

class Steps final {
 public:
  explicit Steps(Session& session) : s_(session) {}
  ~Steps() { static_cast<void>(totals_work_.wait()); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  // Forward and backward over this rank's share of the step's samples, sums over the ranks, and the update;
  // the last part of it is left to the next forward if Update::crosses(). Returns the step that is complete
  // now: this one or, if it crosses, the one before, if there is one. Errors are the same on all ranks: the
  // communicator's, or `aborted` if loss or gradient is no number.
  Expected<std::optional<StepResult>> run(std::int64_t step);
  // Completes the step under way, and returns it, if there is one. Whoever else reads the weights calls this
  // first.
  Expected<std::optional<StepResult>> finish();

 private:
  double forward_backward(std::int64_t step);
  Expected<std::optional<StepResult>> complete(bool crossed);

  Session& s_;
  std::optional<StepResult> under_way_;
  double totals_[2] = {};  // of the step under way: losses, wishes to stop
  Work totals_work_;
  Update::Clock::time_point begin_;
};

// Mean over the validation samples, nats a token. Collective. Also checks that all ranks hold the same
// weights.
Expected<double> validation_loss(Session& session);

}  // namespace strata::trainer
