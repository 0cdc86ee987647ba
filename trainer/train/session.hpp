// All that one rank of a training run owns: text, device, model, optimizer, and its ways to the other ranks.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "trainer/config/config.hpp"
#include "trainer/data/corpus.hpp"
#include "trainer/data/sampler.hpp"
#include "trainer/model/gpt.hpp"
#include "trainer/train/adamw.hpp"
#include "trainer/train/learning_rate.hpp"
#include "trainer/train/peers.hpp"
#include "trainer/train/update.hpp"

namespace strata::trainer {

class Session final {
 public:
  // Collective over the peers: it succeeds on all ranks or fails on all, as Peers::agree says. The weights
  // are the first ones, by config.seed. peers must outlive the session.
  static Expected<std::unique_ptr<Session>> create(const Config& config, Peers& peers);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Config config;
  Peers& peers;
  int threads = 1;
  std::size_t micro_batch = 1;  // sequences this rank holds at once
  Corpus corpus;
  std::unique_ptr<Device> device;
  std::unique_ptr<Gpt> gpt;
  std::optional<AdamW> optimizer;
  std::optional<Update> update;
  std::optional<TrainSampler> train_sampler;
  std::optional<ValidationSampler> validation_sampler;
  LearningRate learning_rate;
  std::vector<std::int32_t> tokens, targets;  // of one micro-batch

 private:
  Session(const Config& c, Peers& p) : config(c), peers(p) {}
  Status build(int ranks_on_host);
};

}  // namespace strata::trainer
