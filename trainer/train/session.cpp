// Builds a session, the same on every rank or on none.
#include "trainer/train/session.hpp"

#include <algorithm>
#include <thread>

#include "trainer/config/config_file.hpp"
#include "trainer/config/options.hpp"
#include "trainer/data/random.hpp"
#include "trainer/model/initialize.hpp"

namespace strata::trainer {
namespace {

// Of all settings that must be the same on all ranks; paths may differ from host to host.
std::uint64_t fingerprint(const Config& config) {
  std::string all;
  for (const Option& option : options())
    if (!std::holds_alternative<std::string Config::*>(option.member)) all += value_of(option, config) + ";";
  return stream_of(all);
}

std::uint64_t fingerprint(const Corpus& corpus) {
  return mix_bits(corpus.train().size()) ^ mix_bits(corpus.validation().size() + 1);
}

}  // namespace

Expected<std::unique_ptr<Session>> Session::create(const Config& config, Peers& peers) {
  if (Status s = peers.agree(check_config(config, peers.size())); !s.ok()) return s;
  if (Status s = peers.expect_equal(fingerprint(config), "settings"); !s.ok()) return s;
  const auto ranks_on_host = peers.ranks_on_host();
  if (!ranks_on_host.ok()) return ranks_on_host.status();
  std::unique_ptr<Session> session(new Session(config, peers));
  if (Status s = peers.agree(session->build(*ranks_on_host)); !s.ok()) return s;
  if (Status s = peers.expect_equal(fingerprint(session->corpus), "a text of a length"); !s.ok()) return s;
  return session;
}

Status Session::build(int ranks_on_host) {
  const ModelShape shape = config.shape();
  auto opened =
      Corpus::open({config.text, config.validation_text, config.validation_fraction, shape.sequence});
  if (!opened.ok()) return opened.status();
  corpus = std::move(opened).value();
  train_sampler.emplace(corpus.train(), shape.sequence, static_cast<std::uint64_t>(config.seed));
  validation_sampler.emplace(corpus.validation(), shape.sequence,
                             static_cast<std::size_t>(config.validation_samples));

  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  threads = config.threads > 0 ? static_cast<int>(config.threads) : std::max(1, cores / ranks_on_host);
  device = make_cpu_device(threads);
  const auto share = static_cast<std::size_t>((config.batch + peers.size() - 1) / peers.size());
  micro_batch =
      config.micro_batch > 0 ? std::min(share, static_cast<std::size_t>(config.micro_batch)) : share;
  tokens.resize(micro_batch * shape.sequence);
  targets.resize(micro_batch * shape.sequence);

  auto made = Gpt::create(shape, micro_batch, *device);
  if (!made.ok()) return made.status();
  gpt = std::move(made).value();
  initialize_weights(gpt->table(), static_cast<std::uint64_t>(config.seed), gpt->weights());
  auto adamw =
      AdamW::create(gpt->table(), {config.beta1, config.beta2, config.epsilon, config.weight_decay}, *device);
  if (!adamw.ok()) return adamw.status();
  optimizer.emplace(std::move(adamw).value());
  const UpdateOptions options{config.bucket_mb, config.overlap, config.priority, config.crossing,
                              config.clip_norm};
  update.emplace(*gpt, *optimizer, peers, options);
  learning_rate = {config.learning_rate, config.minimum_learning_rate, config.warmup_steps, config.steps};
  return {};
}

}  // namespace strata::trainer
