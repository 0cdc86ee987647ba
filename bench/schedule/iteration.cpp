// Times training iterations whose computation is emulated, and whose sums of gradients are real: `strata-run
// --lab 4x1@200mbit -- iteration --layers 4000000:20000:10000,...`. bench/schedule/schedule runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bench/schedule/emulated.hpp"

namespace strata::bench {
namespace {

struct Layer {
  std::size_t floats;
  Nanoseconds backward, forward;
};

// When the sums of the gradients begin and in which order they go, and what the next forward waits for.
struct Arm {
  const char* name;
  bool overlap, priority, crossing;
};
constexpr Arm kArms[] = {
    {"serial", false, false, false},  // all sums after backward, and forward after all sums
    {"fifo", true, false, false},     // each sum begins when backward is through its layer
    {"priority", true, true, false},  // and those of the front layers go first
    {"crossing", true, true, true},   // and forward waits, layer by layer, for that layer's only
};

const Arm* arm_of(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kArms), std::end(kArms), [&](const Arm& a) { return a.name == name; });
  return found == std::end(kArms) ? nullptr : found;
}

// "BYTES:BACKWARD_US:FORWARD_US", of one layer.
std::optional<Layer> layer_of(const std::string& text) {
  double numbers[3] = {};
  const char *at = text.data(), *end = at + text.size();
  for (double& number : numbers) {
    if (&number != numbers && (at == end || *at++ != ':')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || !(number >= 0 && number <= 1e12)) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  const auto time = [](double us) { return Nanoseconds(std::llround(us * 1e3)); };
  return Layer{static_cast<std::size_t>(numbers[0]) / sizeof(float), time(numbers[1]), time(numbers[2])};
}

struct Options {
  std::vector<std::string> layers, arms{"serial", "fifo", "priority", "crossing"};
  int rounds = 3, warm_up = 1, iterations = 2;
};

class Iterations {
 public:
  Iterations(Communicator& all, std::vector<Layer> layers) : all_(all), layers_(std::move(layers)) {
    for (const Layer& layer : layers_) {
      grads_.emplace_back(layer.floats);
      sums_.emplace_back(layer.floats);
      for (std::size_t i = 0; i < layer.floats; ++i)
        grads_.back()[i] = static_cast<float>(i % kValues) * static_cast<float>(all_.rank() + 1);
    }
    works_.resize(layers_.size());
  }

  // Backward from a quiet network to the end of the next forward, `warm_up` times untimed and then
  // `iterations` times. Adds ms of each, and ms of it that the computation waited, on the slowest rank.
  Status turn(const Arm& arm, int warm_up, int iterations, std::vector<double>& figures) {
    for (auto& sum : sums_) std::fill(sum.begin(), sum.end(), -1.0f);
    if (Status s = all_.barrier().wait(); !s.ok()) return s;
    computation_.start();
    figures.clear();
    for (int i = -warm_up; i < iterations; ++i) {
      const auto begin = computation_.at();
      Nanoseconds waited{};
      if (Status s = iterate(arm, waited); !s.ok()) return s;
      if (i >= 0) figures.insert(figures.end(), {ms_of(computation_.at() - begin), ms_of(waited)});
    }
    if (Status s = check(); !s.ok()) return s;
    return largest(all_, figures);
  }

 private:
  static constexpr std::size_t kValues = 97;

  Status iterate(const Arm& arm, Nanoseconds& waited) {
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
      computation_.compute(layers_[layer].backward);
      if (arm.overlap) start_sum(arm, layer);
    }
    for (std::size_t layer = layers_.size(); layer-- > 0 && !arm.overlap;) start_sum(arm, layer);
    for (std::size_t layer = 0; layer < layers_.size() && !arm.crossing; ++layer)
      if (Status s = computation_.wait_for(works_[layer], waited); !s.ok()) return s;
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      if (Status s = computation_.wait_for(works_[layer], waited); !s.ok()) return s;
      computation_.compute(layers_[layer].forward);
    }
    return {};
  }

  void start_sum(const Arm& arm, std::size_t layer) {
    CallOptions options;
    if (arm.priority) options.priority = static_cast<std::int32_t>(layers_.size() - layer);
    works_[layer] = all_.all_reduce(grads_[layer].data(), sums_[layer].data(), grads_[layer].size(),
                                    DataType::float32, ReduceOp::sum, options);
  }

  Status check() const {
    const auto factor = static_cast<float>(all_.size() * (all_.size() + 1) / 2);
    for (std::size_t layer = 0; layer < sums_.size(); ++layer)
      for (std::size_t i = 0; i < sums_[layer].size(); ++i)
        if (const float right = static_cast<float>(i % kValues) * factor; sums_[layer][i] != right)
          return {ErrorCode::internal, fmt::format("rank {}: the sum of layer {} is {} at {}, not {}",
                                                   all_.rank(), layer, sums_[layer][i], i, right)};
    return {};
  }

  Communicator& all_;
  const std::vector<Layer> layers_;
  std::vector<std::vector<float>> grads_, sums_;
  std::vector<Work> works_;
  Computation computation_;
};

// One line an iteration, from rank 0. The arms take turns, and begin one later in each round.
Status measure(Communicator& all, std::vector<Layer> layers, const Options& options) {
  Iterations iterations(all, std::move(layers));
  std::vector<double> figures;
  if (all.rank() == 0) fmt::print("round,arm,place,iteration,ms,waited_ms,stalled_percent\n");
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t turn = 0; turn < options.arms.size(); ++turn) {
      const std::size_t place = (turn + static_cast<std::size_t>(round)) % options.arms.size();
      const std::string& name = options.arms[place];
      const double stalled = stalled_ms();
      const auto begin = Clock::now();
      if (Status s = iterations.turn(*arm_of(name), options.warm_up, options.iterations, figures); !s.ok())
        return s;
      const double percent = 100 * (stalled_ms() - stalled) / ms_of(Clock::now() - begin);
      for (std::size_t i = 0; i < figures.size() / 2 && all.rank() == 0; ++i)
        fmt::print("{},{},{},{},{:.3f},{:.3f},{:.1f}\n", round + 1, name, place, i + 1, figures[2 * i],
                   figures[2 * i + 1], percent);
      std::fflush(stdout);
    }
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App app("iteration - times training iterations with emulated computation and real sums of gradients");
  Options options;
  std::vector<Layer> layers;
  app.add_option("--layers", options.layers, "front first: bytes of gradients, and us backward and forward")
      ->delimiter(',')
      ->required()
      ->type_name("BYTES:US:US,...")
      ->check([&](const std::string& text) {
        return layer_of(text) ? std::string() : "'" + text + "' is no layer, such as 4000000:20000:10000";
      });
  app.add_option("--arms", options.arms,
                 "what takes turns: serial, fifo, priority, crossing; again for noise")
      ->delimiter(',')
      ->check([](const std::string& name) {
        return arm_of(name) ? std::string() : "'" + name + "' is not one of serial, fifo, priority, crossing";
      });
  app.add_option("--rounds", options.rounds, "of turns")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "iterations of a turn before those that are timed")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "of a turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.footer(
      "EXAMPLE\n  strata-run --lab 4x1@200mbit --only-rank 0 -- iteration --layers "
      "1000000:20000:10000,3000000:40000:20000");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& text : options.layers) layers.push_back(*layer_of(text));
  auto all = Communicator::from_environment();
  if (!all) return stop_with("iteration", all.status());
  const Status status = measure(*all, std::move(layers), options);
  return status.ok() ? 0 : stop_with("iteration", status);
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) { return strata::bench::run(argc, argv); }
