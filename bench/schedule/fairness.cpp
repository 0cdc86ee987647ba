// Times two communicators of equal priority that have the same to send at the same time: `strata-run --lab
// 4x1@200mbit -- fairness`. bench/schedule/schedule runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <vector>

#include "bench/schedule/emulated.hpp"

namespace strata::bench {
namespace {

struct Options {
  std::uint64_t bytes = 2u << 20;
  int operations = 4, rounds = 3;
};

// What one of the two has to do: `operations` all-reduces, all submitted at once.
class Bulk {
 public:
  Bulk(Communicator& communicator, const Options& options)
      : communicator_(communicator), works_(options.operations) {
    data_.resize(options.bytes / sizeof(float) * works_.size(), 1.0f);
  }
  void submit() {
    const std::size_t count = data_.size() / works_.size();
    for (std::size_t i = 0; i < works_.size(); ++i)
      works_[i] = communicator_.all_reduce(&data_[i * count], &data_[i * count], count, DataType::float32,
                                           ReduceOp::max);
  }
  bool done() const {
    return std::all_of(works_.begin(), works_.end(), [](const Work& work) { return work.done(); });
  }
  Status wait() const { return Work::wait_all(works_); }

 private:
  Communicator& communicator_;
  std::vector<float> data_;
  std::vector<Work> works_;
};

// ms until each of the two had all its data, on the slowest rank.
Status race(Communicator& all, std::array<Bulk*, 2> bulks, std::array<double, 2>& ms) {
  if (Status s = all.barrier().wait(); !s.ok()) return s;
  const auto begin = Clock::now();
  for (Bulk* bulk : bulks) bulk->submit();
  ms = {};
  while (ms[0] == 0 || ms[1] == 0) {
    for (std::size_t i = 0; i < 2; ++i)
      if (ms[i] == 0 && bulks[i]->done()) ms[i] = ms_of(Clock::now() - begin);
    const timespec a_while{0, 200'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &a_while, nullptr);
  }
  for (Bulk* bulk : bulks)
    if (Status s = bulk->wait(); !s.ok()) return s;
  return largest(all, ms);
}

Status measure(Communicator& all, const Options& options) {
  auto other = all.duplicate();
  if (!other) return other.status();
  Bulk first(all, options), second(*other, options);
  if (all.rank() == 0) fmt::print("round,first_ms,second_ms,stalled_percent\n");
  for (int round = 0; round < options.rounds; ++round) {
    std::array<double, 2> ms{};
    const double stalled = stalled_ms();
    const auto begin = Clock::now();
    if (Status s = race(all, {&first, &second}, ms); !s.ok()) return s;
    const double percent = 100 * (stalled_ms() - stalled) / ms_of(Clock::now() - begin);
    if (all.rank() == 0) fmt::print("{},{:.3f},{:.3f},{:.1f}\n", round + 1, ms[0], ms[1], percent);
    std::fflush(stdout);
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App app(
      "fairness - when two communicators of one priority have sent the same, submitted one after the other");
  Options options;
  app.add_option("--bytes", options.bytes, "of each all-reduce")
      ->check(CLI::Range(4u, 1u << 30))
      ->capture_default_str();
  app.add_option("--operations", options.operations, "of each communicator")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 1000))->capture_default_str();
  app.footer("EXAMPLE\n  strata-run --lab 4x1@200mbit --only-rank 0 -- fairness");
  CLI11_PARSE(app, argc, argv);
  auto all = Communicator::from_environment();
  if (!all) return stop_with("fairness", all.status());
  const Status status = measure(*all, options);
  return status.ok() ? 0 : stop_with("fairness", status);
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) { return strata::bench::run(argc, argv); }
