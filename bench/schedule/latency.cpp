// Times what is urgent beside bulk all-reduces: `strata-run --lab 4x1@200mbit -- latency`.
// bench/schedule/latency runs it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>
#include <vector>

#include "bench/schedule/emulated.hpp"

namespace strata::bench {
namespace {

constexpr std::size_t kUrgentCount = (64 << 10) / sizeof(float), kPieceCount = (16 << 20) / sizeof(float);
constexpr std::int32_t kBulk = 0, kUrgent = 1;

struct Options {
  int rounds = 2, bulk_mb = 256, samples = 200, every_ms = 20;
};

// What is urgent: an all-reduce, or a message from rank 0 to rank 1 which comes back (half of that is the
// time).
enum class Kind { none, all_reduce, message };
struct Arm {
  std::string_view name;
  Kind kind = Kind::all_reduce;
  bool bulk = true, pauses = true, other_communicator = false;
  std::int32_t priority = kUrgent;
};
constexpr std::array<Arm, 10> kArms = {{
    {.name = "all-reduce alone", .bulk = false},
    {.name = "all-reduce alone, no pauses", .bulk = false, .pauses = false},
    {.name = "all-reduce, urgent"},
    {.name = "bulk alone", .kind = Kind::none},
    {.name = "all-reduce, not urgent", .priority = kBulk},
    {.name = "all-reduce, urgent, other communicator", .other_communicator = true},
    {.name = "message alone", .kind = Kind::message, .bulk = false},
    {.name = "message, urgent", .kind = Kind::message},
    {.name = "all-reduce, urgent (again)"},
    {.name = "bulk alone (again)", .kind = Kind::none},
}};

class Measurement final {
 public:
  Measurement(Communicator& all, Communicator& other, const Options& options)
      : all_(all),
        other_(other),
        options_(options),
        urgent_(kUrgentCount),
        bulk_((std::size_t(options.bulk_mb) << 20) / sizeof(float), 1.0f) {}

  Status run(int round) {
    for (const Arm& arm : kArms) {
      us_.clear();
      if (Status s = all_.barrier().wait(); !s.ok()) return s;
      const auto begin = Clock::now();
      const std::vector<Work> works = submit_bulk(arm);
      if (Status s = arm.kind == Kind::none ? Status() : sample(arm, works); !s.ok()) return s;
      if (Status s = Work::wait_all(works); !s.ok()) return s;
      if (Status s = all_.barrier().wait(); !s.ok()) return s;
      const double seconds = ms_of(Clock::now() - begin) / 1e3;
      if (arm.kind == Kind::all_reduce)
        if (Status s = largest(all_, us_); !s.ok()) return s;
      if (all_.rank() == 0)
        fmt::print(
            "{{\"round\": {}, \"arm\": \"{}\", \"bulk_mb\": {}, \"seconds\": {:.6f}, \"us\": [{:.1f}]}}\n",
            round, arm.name, works.empty() ? 0 : options_.bulk_mb, seconds, fmt::join(us_, ", "));
      std::fflush(stdout);
    }
    return {};
  }

 private:
  std::vector<Work> submit_bulk(const Arm& arm) {
    std::vector<Work> works;
    for (std::size_t at = 0; arm.bulk && at < bulk_.size(); at += kPieceCount)
      works.push_back(all_.all_reduce(&bulk_[at], &bulk_[at], std::min(kPieceCount, bulk_.size() - at),
                                      DataType::float32, ReduceOp::max, {.priority = kBulk}));
    return works;
  }

  // Until the bulk has ended on all ranks, or there are samples enough. The urgent data say which it is:
  // their first element is 1 as long as some rank wants more.
  Status sample(const Arm& arm, const std::vector<Work>& bulk) {
    if (arm.kind == Kind::message && all_.rank() > 1) return {};
    Computation pause;
    pause.start();
    for (int i = 1;; ++i) {
      if (arm.pauses) pause.compute(std::chrono::milliseconds(options_.every_ms));
      const bool more = arm.bulk
                            ? !std::all_of(bulk.begin(), bulk.end(), [](const Work& w) { return w.done(); })
                            : i < options_.samples;
      urgent_[0] = more ? 1 : 0;
      const auto begin = Clock::now();
      if (Status s = arm.kind == Kind::message ? pass() : reduce(arm); !s.ok()) return s;
      const double us = ms_of(Clock::now() - begin) * 1e3;
      us_.push_back(arm.kind == Kind::message ? us / 2 : us);
      if (urgent_[0] == 0) return {};
      pause.start();
    }
  }

  Status reduce(const Arm& arm) {
    Communicator& communicator = arm.other_communicator ? other_ : all_;
    return communicator
        .all_reduce(urgent_.data(), urgent_.data(), urgent_.size(), DataType::float32, ReduceOp::max,
                    {.priority = arm.priority})
        .wait();
  }
  Status pass() {
    const auto send = [&](Rank to) {
      return all_.send(urgent_.data(), urgent_.size(), DataType::float32, to, {.priority = kUrgent}).wait();
    };
    const auto receive = [&](Rank from) {
      return all_.recv(urgent_.data(), urgent_.size(), DataType::float32, from, {.priority = kUrgent}).wait();
    };
    const bool first = all_.rank() == 0;
    if (Status s = first ? send(1) : receive(0); !s.ok()) return s;
    return first ? receive(1) : send(0);
  }

  Communicator& all_;
  Communicator& other_;
  const Options& options_;
  std::vector<float> urgent_, bulk_;
  std::vector<double> us_;
};

int run(int argc, char** argv) {
  CLI::App app(
      "latency - what is urgent beside bulk all-reduces, one line of JSON for each arm of each round");
  Options options;
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--bulk-mb", options.bulk_mb, "MiB of bulk, in all-reduces of 16")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--samples", options.samples, "of an arm without bulk")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--every-ms", options.every_ms, "pause before each urgent operation")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.footer("EXAMPLE\n  strata-run --lab 4x1@200mbit --only-rank 0 -- latency --bulk-mb 64");
  CLI11_PARSE(app, argc, argv);
  auto all = Communicator::from_environment();
  if (!all) return stop_with("latency", all.status());
  if (all->size() < 2)
    return stop_with("latency",
                     Status(ErrorCode::invalid_argument, "it needs two ranks or more; there is 1"));
  auto other = all->duplicate();
  if (!other) return stop_with("latency", other.status());
  Measurement measurement(*all, *other, options);
  for (int round = 1; round <= options.rounds; ++round)
    if (const Status status = measurement.run(round); !status.ok()) return stop_with("latency", status);
  return 0;
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) { return strata::bench::run(argc, argv); }
