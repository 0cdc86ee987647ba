// One update of the weights, and the loss on text that is never trained on.
#pragma once
#include <cstdint>

#include "trainer/train/session.hpp"

namespace strata::trainer {

struct StepResult {
  std::int64_t step = 0;  // from 0
  double loss = 0;        // mean over the global batch, nats a token
  double grad_norm = 0;   // before clipping
  double learning_rate = 0;
  double seconds = 0;
  double exposed_seconds = 0;  // spent waiting for sums that backward did not hide
  bool stop = false;           // a rank was asked to
};

// Forward and backward over this rank's share of the step's samples, sums over the ranks, and the update.
// Errors are the same on all ranks: the communicator's, or `aborted` if loss or gradient is no number.
Expected<StepResult> train_step(Session& session, std::int64_t step);

// Mean over the validation samples, nats a token. Collective. Also checks that all ranks hold the same
// weights.
Expected<double> validation_loss(Session& session);

}  // namespace strata::trainer
