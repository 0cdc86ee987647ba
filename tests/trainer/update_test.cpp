// However sums are ordered and whatever forward waits for, the same weights come out, to the last bit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/trainer/rank_threads.hpp"
#include "tests/trainer/small_run.hpp"

using namespace strata::trainer;
using strata::Status;

namespace {

constexpr int kSteps = 8;

struct Trained {
  std::vector<StepResult> results;
  std::vector<float> weights;
  std::string error;
};

// Of every rank.
std::vector<Trained> train_on(int ranks, const Config& config, const std::string& transport) {
  std::vector<Trained> all(static_cast<std::size_t>(ranks));
  on_ranks(
      ranks,
      [&](Peers& peers) {
        Trained& mine = all[static_cast<std::size_t>(peers.rank())];
        auto session = Session::create(config, peers);
        const Status status = session.ok() ? train_steps(**session, mine.results) : session.status();
        mine.error = std::string(status.message());
        if (!status.ok()) return;
        const Gpt& gpt = *(*session)->gpt;
        mine.weights.assign((*session)->gpt->weights(), (*session)->gpt->weights() + gpt.table().floats());
      },
      transport);
  return all;
}

void check_same(const Trained& trained, const Trained& plain) {
  INFO(trained.error);
  REQUIRE(trained.error.empty());
  CHECK(trained.weights == plain.weights);
  REQUIRE(trained.results.size() == kSteps);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const StepResult &result = trained.results[step], &expected = plain.results[step];
    CAPTURE(step);
    CHECK(result.step == static_cast<std::int64_t>(step));
    CHECK(result.loss == expected.loss);
    CHECK(result.grad_norm == expected.grad_norm);
    CHECK(result.learning_rate == expected.learning_rate);
    CHECK(result.seconds > 0);
    CHECK(result.exposed_seconds >= 0);
  }
}

Config plain_config(double clip_norm, std::int64_t micro_batch) {
  Config config = small_config(kSteps);
  config.clip_norm = clip_norm;
  config.micro_batch = micro_batch;
  config.overlap = config.priority = config.crossing = false;
  return config;
}

}  // namespace

TEST_CASE("every order of sums, and crossing, gives the weights of the plain order to the last bit") {
  const std::string transport = GENERATE("shm", "tcp");
  const int ranks = GENERATE(2, 4);
  const double clip_norm = GENERATE(0.0, 0.5);
  const std::int64_t micro_batch = GENERATE(0, 1);  // all at once, and in several parts
  CAPTURE(transport, ranks, clip_norm, micro_batch);
  Config config = plain_config(clip_norm, micro_batch);
  const auto plain = train_on(ranks, config, transport);
  for (const Trained& trained : plain) check_same(trained, plain[0]);
  for (int choice = 1; choice < 8; ++choice) {
    config.overlap = (choice & 1) != 0;
    config.priority = (choice & 2) != 0;
    config.crossing = (choice & 4) != 0;
    CAPTURE(config.overlap, config.priority, config.crossing);
    for (const Trained& trained : train_on(ranks, config, transport)) check_same(trained, plain[0]);
  }
}

TEST_CASE("the norm that is reported is the whole gradient's, clipped or not") {
  Config config = plain_config(0, 0);
  config.crossing = config.overlap = config.priority = true;
  config.steps = 1;
  config.warmup_steps = 0;
  const auto loose = train_on(2, config, "");
  config.clip_norm = 0.5;
  const auto tight = train_on(2, config, "");
  REQUIRE(loose[0].results.size() == 1);
  REQUIRE(tight[0].results.size() == 1);
  CHECK(loose[0].results[0].grad_norm == tight[0].results[0].grad_norm);
  CHECK(tight[0].results[0].grad_norm > config.clip_norm);
  CHECK(loose[0].weights != tight[0].weights);
}

TEST_CASE("a step that crosses is complete in the next one, or when asked") {
  std::vector<std::int64_t> order;
  on_ranks(2, [&](Peers& peers) {
    Config config = small_config(3);
    config.warmup_steps = 1;
    config.clip_norm = 0;
    auto session = Session::create(config, peers);
    Steps steps(**session);
    const auto take = [&](const auto& completed) {
      if (peers.rank() == 0)
        order.push_back(completed.ok() && completed->has_value() ? (*completed)->step : -1);
    };
    take(steps.run(0));
    take(steps.run(1));
    take(steps.finish());
    take(steps.finish());
    take(steps.run(2));
    take(steps.finish());
  });
  CHECK(order == std::vector<std::int64_t>{-1, 0, 1, -1, -1, 2});
}

TEST_CASE("where clipping or being alone leaves nothing to cross, each step is complete at its end") {
  for (const int ranks : {1, 2}) {
    on_ranks(ranks, [&](Peers& peers) {
      Config config = small_config(1);
      config.warmup_steps = 0;
      config.clip_norm = ranks == 1 ? 0 : 1;
      auto session = Session::create(config, peers);
      Steps steps(**session);
      const auto completed = steps.run(0);
      if (!completed.ok() || !completed->has_value() || (*session)->update->crosses()) std::abort();
    });
  }
}

TEST_CASE("a rank that leaves while a step crosses ends the others with an error") {
  std::vector<std::string> said(3);
  on_ranks(3, [&](Peers& peers) {
    Config config = small_config(200);
    config.clip_norm = 0;
    auto session = Session::create(config, peers);
    if (peers.rank() == 1) return;  // gone, communicator and all
    std::vector<StepResult> results;
    said[static_cast<std::size_t>(peers.rank())] = std::string(train_steps(**session, results).message());
  });
  CHECK_FALSE(said[0].empty());
  CHECK_FALSE(said[2].empty());
}

TEST_CASE("buckets cover the layout once, in order, whatever their size, and none has two layers") {
  const ParameterTable table({3, 2, 16, 8, 256});
  for (const std::size_t floats : {1, 100, 1000, 10'000, 10'000'000}) {
    const auto buckets = make_buckets(table, floats);
    REQUIRE_FALSE(buckets.empty());
    std::size_t end = 0, tensors = 0;
    for (const Bucket& bucket : buckets) {
      CHECK(bucket.begin == end);
      CHECK(bucket.end > bucket.begin);
      end = bucket.end;
      const auto inside = table.tensors_in(bucket.begin, bucket.end);
      tensors += inside.size();
      CHECK(std::all_of(inside.begin(), inside.end(),
                        [&](const Tensor& tensor) { return tensor.layer == inside[0].layer; }));
    }
    const Tensor& last = table.tensors().back();
    CHECK(end == last.offset + last.count);
    CHECK(tensors == table.tensors().size());
    CHECK((floats == 1) == (buckets.size() == table.tensors().size()));
    if (floats == 10'000'000) CHECK(buckets.size() == 4);  // three blocks and the embedding
  }
}
