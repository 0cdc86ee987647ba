// A whole training run on one rank: all steps, with what is shown, judged and saved on the way.
#pragma once
#include "trainer/train/session.hpp"

namespace strata::trainer {

// Collective. Rank 0 shows progress, curve, losses and a sample, and writes metrics and checkpoints. Returns
// ok also when a signal stopped the run early. Errors are the same on all ranks, but for files that only rank
// 0 writes: there the others name rank 0.
Status run_training(Session& session);

}  // namespace strata::trainer
