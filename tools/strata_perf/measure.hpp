// Measures one collective at one size: times it, then checks its results.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/strata_perf/sampler.hpp"

namespace strata::perf {

struct Figures {
  double time_us = 0, p50_us = 0, p99_us = 0;  // of one call
  double algorithm_gbs = 0, bus_gbs = 0;       // GB/s, GB = 1e9 bytes
  std::optional<std::uint64_t> wrong;          // elements of all ranks; nothing if not checked
  double min_us = 0;
  int samples = 0, calls = 1;  // how many times were taken, each of how many calls
};

// What is measured: a row of the table.
struct Measurement {
  const TestCase* test = nullptr;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
  std::uint64_t bytes = 0;
  std::string algorithm = {};  // forced; empty: selected, or the communicator's
};

// An algorithm that could be used, and what came of it.
struct Explained {
  Estimate estimate;
  std::optional<double> measured_us;  // the median, out of place; of two the better
};

struct Row {
  Measurement what;
  std::uint64_t shown_bytes = 0, count = 0;
  Figures out_of_place;
  std::optional<Figures> in_place;
  std::vector<Explained> candidates = {};  // if asked for; the chosen one first
};

// Owned by the main thread. measure() is collective: all ranks measure the same things in the same order.
class Meter final {
 public:
  Meter(World& world, const Options& options);
  Expected<Row> measure(const Measurement& what);

 private:
  Expected<Figures> figures(const Measurement& what, const Shape& shape, bool in_place);
  Expected<Samples> samples(const Call& call, std::uint64_t bytes);
  Expected<std::vector<double>> times_us(const Call& call);
  Status run_one_by_one(const Call& call, int iterations, std::vector<double>& times);
  Status run_overlapped(const Call& call, std::vector<double>& times);
  Work start_iteration(const Call& call, std::uint64_t first_slot);
  Work start_in_turn(const Call& call, std::uint64_t first_slot);
  std::uint64_t first_slot(int iteration) const;
  Expected<std::uint64_t> count_wrong_elements(const Measurement& what, const Call& call);

  World& world_;
  const Options& options_;
  Workspace workspace_;
  std::uint64_t seed_ = 0x5eed;  // of the next data
};

}  // namespace strata::perf
