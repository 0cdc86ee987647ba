// Everything a training run can be told. Each field is a key of the TOML file and a flag; options.cpp lists
// them.
#pragma once
#include <cstdint>
#include <string>

#include "trainer/model/shape.hpp"

namespace strata::trainer {

struct Config {
  // [model]
  std::int64_t layers = 4, heads = 4, width = 128, sequence = 128, vocabulary = 256;
  // [data]
  std::string text, validation_text;
  double validation_fraction = 0.05;
  // [optimizer]
  double learning_rate = 1e-3, minimum_learning_rate = 1e-4;
  std::int64_t warmup_steps = 50;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1, clip_norm = 1.0;
  // [training]
  std::int64_t steps = 1000, batch = 32, micro_batch = 0, seed = 1, threads = 0;
  // [communication]
  double bucket_mb = 4;
  bool overlap = true, priority = true, crossing = true;
  // [validation]
  std::int64_t validate_every = 100, validation_samples = 128;
  // [output]
  std::int64_t log_every = 20, checkpoint_every = 0;
  std::string metrics, checkpoint, trace;
  // [sample]
  std::int64_t sample_tokens = 240, top_k = 40;
  std::string prompt = "\n";
  double temperature = 0.8;
  // [reference]
  double reference_loss = 0;
  std::string reference_command;

  ModelShape shape() const {
    const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    return {size(layers), size(heads), size(width), size(sequence), size(vocabulary)};
  }
};

}  // namespace strata::trainer
