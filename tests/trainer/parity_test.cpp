// Any number of ranks, and any cut of the batch, trains the same model; and what fails, fails on all ranks.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "tests/trainer/rank_threads.hpp"
#include "tests/trainer/small_run.hpp"
#include "tests/trainer/threads.hpp"

using namespace strata::trainer;
using Catch::Contains;
using strata::Expected;
using strata::Status;

namespace {

constexpr int kSteps = 50;

struct Trained {
  std::vector<StepResult> results;
  double first_validation = 0, validation = 0;
  std::vector<float> weights;  // rank 0's
  std::size_t buckets = 0;
  std::string error;
};

Status train(const Config& config, Peers& peers, Trained& into) {
  auto session = Session::create(config, peers);
  if (!session.ok()) return session.status();
  Session& s = **session;
  const auto before = validation_loss(s);
  if (!before.ok()) return before.status();
  into.first_validation = *before;
  if (Status status = train_steps(s, into.results); !status.ok()) return status;
  const auto after = validation_loss(s);
  if (!after.ok()) return after.status();
  into.validation = *after;
  into.buckets = s.update->bucket_count();
  into.weights.assign(s.gpt->weights(), s.gpt->weights() + s.gpt->table().floats());
  return {};
}

Trained train_on(int ranks, const Config& config) {
  Trained result;
  on_ranks(ranks, [&](Peers& peers) {
    Trained mine;
    const Status status = train(config, peers, mine);
    mine.error = std::string(status.message());
    if (peers.rank() == 0) result = std::move(mine);
  });
  INFO(result.error);
  REQUIRE(result.error.empty());
  return result;
}

const Trained& one_rank() {
  static const Trained trained = train_on(1, small_config(kSteps));
  return trained;
}

std::vector<double> losses_of(const Trained& trained) {
  std::vector<double> losses;
  for (const StepResult& result : trained.results) losses.push_back(result.loss);
  return losses;
}

void check_same(const Trained& trained) {
  const Trained& one = one_rank();
  REQUIRE(trained.results.size() == one.results.size());
  for (std::size_t step = 0; step < one.results.size(); ++step) {
    CAPTURE(step);
    CHECK(trained.results[step].step == static_cast<std::int64_t>(step));
    CHECK(trained.results[step].loss == Approx(one.results[step].loss).epsilon(1e-6));
  }
  CHECK(trained.validation == Approx(one.validation).epsilon(1e-6));
}

// What each rank of `size` says at the end of body.
std::vector<std::string> messages(int size, const std::function<Status(Peers&)>& body) {
  std::vector<std::string> all(static_cast<std::size_t>(size));
  on_ranks(size, [&](Peers& peers) {
    all[static_cast<std::size_t>(peers.rank())] = std::string(body(peers).message());
  });
  return all;
}

}  // namespace

TEST_CASE("one rank learns the bundled text") {
  const Trained& one = one_rank();
  CHECK(one.first_validation == Approx(std::log(256)).epsilon(0.02));
  CHECK(one.validation < 0.75 * one.first_validation);
  CHECK(one.buckets > 3);
}

TEST_CASE("2, 3 and 4 ranks give the losses of one, step by step") {
  for (const int ranks : {2, 3, 4}) {  // 3: shares of different sizes
    CAPTURE(ranks);
    check_same(train_on(ranks, small_config(kSteps)));
  }
}

TEST_CASE("the same run twice is the same to the last bit") {
  const Trained again = train_on(1, small_config(kSteps));
  CHECK(losses_of(again) == losses_of(one_rank()));
  CHECK(again.weights == one_rank().weights);
  const Trained two = train_on(2, small_config(kSteps)), two_again = train_on(2, small_config(kSteps));
  CHECK(losses_of(two) == losses_of(two_again));
  CHECK(two.weights == two_again.weights);
}

TEST_CASE("micro-batches, threads and buckets change nothing") {
  for (const std::int64_t micro_batch : {1, 3}) {
    Config config = small_config(kSteps);
    config.micro_batch = micro_batch;
    CAPTURE(micro_batch);
    check_same(train_on(1, config));
    check_same(train_on(2, config));
  }
  Config config = small_config(kSteps);
  config.threads = threads_at_most(2);
  check_same(train_on(1, config));
  config = small_config(kSteps);
  config.bucket_mb = 64;
  check_same(train_on(2, config));
}

TEST_CASE("another seed is another run") {
  Config config = small_config(kSteps);
  config.seed = 2;
  config.steps = 7;
  const Trained other = train_on(1, config);
  CHECK(losses_of(other)[0] != losses_of(one_rank())[0]);
}

TEST_CASE("a loss that is no number ends all ranks with the reason") {
  for (const int size : {1, 2}) {
    const auto said = messages(size, [](Peers& peers) -> Status {
      auto session = Session::create(small_config(kSteps), peers);
      if (!session.ok()) return session.status();
      if (peers.rank() == peers.size() - 1)
        (*session)->gpt->weights()[0] = std::numeric_limits<float>::quiet_NaN();
      std::vector<StepResult> results;
      return train_steps(**session, results);
    });
    for (const auto& message : said)
      CHECK_THAT(message, Contains("step 1: the loss is nan") && Contains("learning_rate"));
  }
}

TEST_CASE("a rank that leaves ends the others with an error, not a hang") {
  const auto said = messages(3, [](Peers& peers) -> Status {
    auto session = Session::create(small_config(kSteps), peers);
    if (!session.ok()) return session.status();
    if (peers.rank() == 1) return {};  // gone, communicator and all
    std::vector<StepResult> results;
    return train_steps(**session, results);
  });
  CHECK(said[1].empty());
  CHECK_FALSE(said[0].empty());
  CHECK_FALSE(said[2].empty());
}

TEST_CASE("ranks that were told different things find out before they start") {
  const auto said = messages(3, [](Peers& peers) -> Status {
    Config config = small_config(kSteps);
    if (peers.rank() == 2) config.learning_rate = 1e-2;
    return Session::create(config, peers).status();
  });
  for (const auto& message : said) CHECK_THAT(message, Contains("rank 2 has settings other than rank 0's"));
}

TEST_CASE("an error of one rank is an error of all: it says what, they say who") {
  const auto said = messages(3, [](Peers& peers) -> Status {
    Config config = small_config(kSteps);
    if (peers.rank() == 1) config.text = "/no/such/text";
    return Session::create(config, peers).status();
  });
  CHECK_THAT(said[1], Contains("/no/such/text"));
  for (const int rank : {0, 2})
    CHECK_THAT(said[static_cast<std::size_t>(rank)], Contains("rank 1 could not go on"));
}

TEST_CASE("ranks whose weights have come apart find out at the next validation") {
  const auto said = messages(2, [](Peers& peers) -> Status {
    auto session = Session::create(small_config(kSteps), peers);
    if (!session.ok()) return session.status();
    if (peers.rank() == 1) (*session)->gpt->weights()[5] += 1;
    return validation_loss(**session).status();
  });
  for (const auto& message : said) CHECK_THAT(message, Contains("rank 1 has weights other than rank 0's"));
}
