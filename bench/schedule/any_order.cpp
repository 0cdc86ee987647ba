// Times the same all-reduces submitted in one order by all ranks, and in an order of its own by each:
// `strata-run --lab 8x1@200mbit --only-rank 0 -- any_order`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/schedule/emulated.hpp"

namespace strata::bench {
namespace {

struct Options {
  int operations = 64, rounds = 7;
  std::uint64_t bytes = 128u << 10;  // on average
  std::uint64_t seed = 1;
};

enum Arm : std::size_t { unnamed, named, shuffled, kArms };
constexpr std::array<const char*, kArms> kNames{"in one order", "in one order, with names",
                                                "in any order, with names and any priorities"};

// What all ranks do in a round, in the order of one of the arms.
class Round {
 public:
  Round(Communicator& all, const Options& options) : all_(all), random_(options.seed * 1000 + rank()) {
    std::mt19937_64 sizes(options.seed);
    for (int i = 0; i < options.operations; ++i) {
      const std::uint64_t bytes = std::uniform_int_distribution<std::uint64_t>(4, 2 * options.bytes)(sizes);
      data_.emplace_back(bytes / sizeof(float), 1.0f);
      names_.push_back(fmt::format("operation {}", i));
      order_.push_back(static_cast<std::size_t>(i));
    }
  }
  // ms until all have ended, on the slowest rank.
  Status time(Arm arm, std::array<double, 1>& ms) {
    std::sort(order_.begin(), order_.end());
    if (arm == shuffled) std::shuffle(order_.begin(), order_.end(), random_);
    if (Status s = all_.barrier().wait(); !s.ok()) return s;
    const auto begin = Clock::now();
    std::vector<Work> works;
    for (const std::size_t i : order_) {
      CallOptions call;
      if (arm != unnamed) call.name = names_[i];
      if (arm == shuffled) call.priority = static_cast<std::int32_t>(random_() % 8);
      auto& data = data_[i];
      works.push_back(
          all_.all_reduce(data.data(), data.data(), data.size(), DataType::float32, ReduceOp::max, call));
    }
    if (Status s = Work::wait_all(works); !s.ok()) return s;
    ms = {ms_of(Clock::now() - begin)};
    return largest(all_, ms);
  }

 private:
  unsigned rank() const { return static_cast<unsigned>(all_.rank()); }
  Communicator& all_;
  std::mt19937_64 random_;
  std::vector<std::vector<float>> data_;
  std::vector<std::string> names_;
  std::vector<std::size_t> order_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// The first arm runs twice in a round: A/A.
Status measure(Communicator& all, const Options& options) {
  Round round(all, options);
  const std::array<Arm, 4> turns{unnamed, named, shuffled, unnamed};
  std::array<std::vector<double>, 4> ratios;
  std::array<double, 1> ms{};
  if (Status s = round.time(named, ms); !s.ok()) return s;  // plans are made, names met
  if (all.rank() == 0) fmt::print("round,arm,ms\n");
  for (int i = 0; i < options.rounds; ++i) {
    std::array<double, 4> times{};
    for (std::size_t k = 0; k < turns.size(); ++k) {
      if (Status s = round.time(turns[k], ms); !s.ok()) return s;
      times[k] = ms[0];
      if (all.rank() == 0) fmt::print("{},{},{:.3f}\n", i + 1, kNames[turns[k]], ms[0]);
    }
    for (std::size_t k = 0; k < turns.size(); ++k) ratios[k].push_back(times[k] / times[0]);
  }
  if (all.rank() != 0) return {};
  for (std::size_t k = 1; k < turns.size(); ++k)
    fmt::print("# {}: {:.3f} of the time {}{}\n", kNames[turns[k]], median(ratios[k]), kNames[0],
               k == 3 ? " (A/A)" : "");
  return {};
}

int run(int argc, char** argv) {
  CLI::App app(
      "any_order - what it costs that each rank submits the same all-reduces in an order of its own");
  Options options;
  app.add_option("--operations", options.operations)->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--bytes", options.bytes, "of an all-reduce, on average")
      ->check(CLI::Range(4u, 1u << 30))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--seed", options.seed, "of sizes, orders and priorities")->capture_default_str();
  app.footer("EXAMPLE\n  strata-run --lab 8x1@200mbit --only-rank 0 -- any_order");
  CLI11_PARSE(app, argc, argv);
  auto all = Communicator::from_environment();
  if (!all) return stop_with("any_order", all.status());
  const Status status = measure(*all, options);
  return status.ok() ? 0 : stop_with("any_order", status);
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) { return strata::bench::run(argc, argv); }
