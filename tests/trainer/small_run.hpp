// A run that is over soon, of a model that has several layers and buckets.
#pragma once
#include <vector>

#include "trainer/train/session.hpp"
#include "trainer/train/step.hpp"

namespace strata::trainer {

inline Config small_config(std::int64_t steps) {
  Config config;
  config.text = STRATA_SOURCE_DIR "/data/english.txt";
  config.layers = 2;
  config.heads = 2;
  config.width = 32;
  config.sequence = 32;
  config.batch = 8;
  config.steps = steps;
  config.warmup_steps = 5;
  config.learning_rate = 3e-3;
  config.threads = 1;
  config.bucket_mb = 0.02;
  config.validation_samples = 16;
  return config;
}

// All steps, and their results in the order in which they came.
inline Status train_steps(Session& session, std::vector<StepResult>& results) {
  Steps steps(session);
  const auto take = [&](const Expected<std::optional<StepResult>>& completed) {
    if (completed.ok() && completed->has_value()) results.push_back(**completed);
    return completed.status();
  };
  for (std::int64_t step = 0; step < session.config.steps; ++step)
    if (Status status = take(steps.run(step)); !status.ok()) return status;
  return take(steps.finish());
}

}  // namespace strata::trainer
