// What the command line asks for.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "strata/types.hpp"
#include "tools/strata_perf/test_case.hpp"

namespace strata::perf {

enum class Average { rank0, mean, min, max };  // of the ranks' times

struct Options {
  std::vector<const TestCase*> tests;
  std::uint64_t bytes_min = 32 << 20;
  std::uint64_t bytes_max = 32 << 20;
  std::uint64_t bytes_step = 1 << 20;
  double factor = 0;                 // above 1: sizes grow by it instead of by bytes_step
  std::vector<std::uint64_t> sizes;  // not empty: these instead; bytes_max is the largest
  int iterations = 20;
  int calls_per_iteration = 1;
  int window = 64;  // messages at once, of `send`
  int warmups = 1;
  int cycles = 1;  // 0: for ever
  int checks = 1;  // 0: results are not checked
  std::vector<DataType> types = {DataType::float32};
  std::vector<ReduceOp> ops = {ReduceOp::sum};
  Rank root = 0;  // -1: every rank in turn
  Average average = Average::mean;
  bool blocking = true;
  bool touched = true;
  bool percentiles = true;
  double sampled_s = 0;          // above 0: timed in samples, for so long
  bool shared_memory = false;    // buffers of strata::allocate()
  std::uint32_t timeout_ms = 0;  // 0: the library's default
  std::string algorithm, transport, topology, levels, trace;
  bool explain = false;         // predictions are printed
  bool all_algorithms = false;  // every candidate is measured
  std::string csv_path, json_path;
};

// The sizes of one sweep, in bytes.
std::vector<std::uint64_t> sizes_of(const Options& options);

struct ParsedCommandLine {
  Options options;
  int exit_code = -1;   // at least 0: the program ends here with it,
  std::string message;  // after printing this: help to standard output, an error to standard error
};
ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace strata::perf
