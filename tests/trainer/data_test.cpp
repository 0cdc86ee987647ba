// Samples, schedules and random numbers: functions of an index, whoever asks.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "trainer/data/corpus.hpp"
#include "trainer/data/random.hpp"
#include "trainer/data/sampler.hpp"
#include "trainer/train/learning_rate.hpp"

using namespace strata::trainer;
namespace fs = std::filesystem;

namespace {

std::vector<std::uint8_t> numbered(std::size_t count) {
  std::vector<std::uint8_t> text(count);
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<std::uint8_t>(i * 131 >> 3);
  return text;
}

std::string temporary_file(const char* name, std::string_view content) {
  const auto path = fs::temp_directory_path() / (std::string("strata_data_test_") + name);
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

}  // namespace

TEST_CASE("a shuffle is a permutation, another one for another key") {
  for (const std::uint64_t size : {1, 2, 3, 4, 5, 17, 64, 100, 1023, 4097}) {
    std::vector<bool> seen(size, false);
    std::uint64_t moved = 0, differs = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      const auto value = shuffled(i, size, 12345);
      REQUIRE(value < size);
      REQUIRE_FALSE(seen[value]);
      seen[value] = true;
      moved += value != i;
      differs += value != shuffled(i, size, 54321);
    }
    if (size >= 64) CHECK((moved > size * 9 / 10 && differs > size * 9 / 10));
  }
}

TEST_CASE("an epoch goes through every window once") {
  const auto text = numbered(1000);
  for (const std::size_t sequence : {1, 7, 64, 500}) {
    const TrainSampler sampler(text, sequence, 9);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<std::size_t> windows;
      const auto n = sampler.samples_per_epoch();
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::size_t offset = sampler.offset_of(epoch * n + i);
        REQUIRE(offset + sequence + 1 <= text.size());
        windows.insert(offset / sequence);
        CHECK(offset % sequence == sampler.offset_of(epoch * n) % sequence);
      }
      CHECK(windows.size() == n);
    }
  }
}

TEST_CASE("any number of ranks sees the same samples") {
  const auto text = numbered(5000);
  const std::size_t sequence = 16, batch = 13;
  const TrainSampler sampler(text, sequence, 4);
  std::vector<std::int32_t> whole(batch * sequence), whole_targets(whole.size());
  sampler.load(3 * batch, batch, whole.data(), whole_targets.data());
  for (int ranks = 1; ranks <= 13; ++ranks) {
    std::vector<std::int32_t> parts, part_targets;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto mine = share_of(batch, rank, ranks);
      std::vector<std::int32_t> tokens(mine.count() * sequence), targets(tokens.size());
      sampler.load(3 * batch + mine.begin, mine.count(), tokens.data(), targets.data());
      parts.insert(parts.end(), tokens.begin(), tokens.end());
      part_targets.insert(part_targets.end(), targets.begin(), targets.end());
    }
    CHECK(parts == whole);
    CHECK(part_targets == whole_targets);
  }
  for (std::size_t i = 0; i + 1 < sequence; ++i) CHECK(whole_targets[i] == whole[i + 1]);
}

TEST_CASE("validation windows are the same every time and span the text") {
  const auto text = numbered(1000);
  for (const std::size_t samples : {0, 1, 2, 5, 1000}) {
    const ValidationSampler sampler(text, 32, samples);
    CHECK(sampler.samples() == (samples == 0 || samples > 31 ? 31 : samples));
    std::vector<std::int32_t> tokens(sampler.samples() * 32), targets(tokens.size());
    sampler.load(0, sampler.samples(), tokens.data(), targets.data());
    CHECK(tokens[0] == text[0]);
    if (sampler.samples() > 1) CHECK(targets.back() == text.back());
    // In parts as in one.
    std::vector<std::int32_t> one(32), one_target(32);
    sampler.load(sampler.samples() - 1, 1, one.data(), one_target.data());
    CHECK(std::equal(one.begin(), one.end(), tokens.end() - 32));
  }
}

TEST_CASE("the corpus: a text cut in two, or two texts, or a clear error") {
  const std::string text = temporary_file("text", std::string(1000, 'a') + std::string(250, 'b'));
  const std::string other = temporary_file("other", std::string(300, 'c'));
  const std::string tiny = temporary_file("tiny", "ab");
  const std::string empty = temporary_file("empty", "");
  {
    const auto corpus = Corpus::open({text, "", 0.2, 32});
    REQUIRE(corpus.ok());
    CHECK(corpus->train().size() == 1000);
    CHECK(corpus->validation().size() == 250);
    CHECK(corpus->validation()[0] == 'b');
  }
  {
    const auto corpus = Corpus::open({text, other, 0.2, 32});
    REQUIRE(corpus.ok());
    CHECK(corpus->train().size() == 1250);
    CHECK(corpus->validation().size() == 300);
  }
  const auto message = [](const CorpusOptions& options) {
    return std::string(Corpus::open(options).status().message());
  };
  CHECK_THAT(message({"/no/such/file", "", 0.1, 8}),
             Catch::Contains("/no/such/file") && Catch::Contains("No such file"));
  CHECK_THAT(message({"/tmp", "", 0.1, 8}), Catch::Contains("directory"));
  CHECK_THAT(message({tiny, "", 0.1, 8}), Catch::Contains("tiny") && Catch::Contains("at least 16"));
  CHECK_THAT(message({empty, "", 0.1, 8}), Catch::Contains("has 0 bytes"));
  CHECK_THAT(message({text, tiny, 0.1, 8}), Catch::Contains("tiny") && Catch::Contains("validation"));
  CHECK_THAT(message({text, "", 0.0001, 8}), Catch::Contains("validation"));
  for (const auto& path : {text, other, tiny, empty}) fs::remove(path);
}

TEST_CASE("random numbers have the distribution they claim") {
  const RandomStream random(1, stream_of("a")), other(1, stream_of("b"));
  const int n = 200'000;
  double sum = 0, squares = 0, uniform = 0;
  int equal = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal(i);
    sum += x;
    squares += x * x;
    uniform += random.uniform(i);
    equal += random.bits(i) == other.bits(i);
  }
  CHECK(std::abs(sum / n) < 0.01);
  CHECK(squares / n == Approx(1).epsilon(0.01));
  CHECK(uniform / n == Approx(0.5).epsilon(0.01));
  CHECK(equal == 0);
}

TEST_CASE("the learning rate warms up, then falls by half a cosine") {
  const LearningRate rate{1.0, 0.1, 10, 111};
  CHECK(rate.at(0) == Approx(0.1));
  CHECK(rate.at(4) == Approx(0.5));
  CHECK(rate.at(9) == Approx(1.0));
  CHECK(rate.at(10) == Approx(1.0));
  CHECK(rate.at(60) == Approx(0.55));  // half way down
  CHECK(rate.at(110) == Approx(0.1));
  for (std::int64_t step = 10; step < 110; ++step) CHECK(rate.at(step + 1) < rate.at(step));
  const LearningRate no_warmup{2.0, 2.0, 0, 1};
  CHECK(no_warmup.at(0) == 2.0);
  const LearningRate two{1.0, 0.0, 0, 2};
  CHECK(two.at(0) == 1.0);
  CHECK(two.at(1) == 0.0);
}
