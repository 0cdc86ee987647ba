#include "bench/compare/method.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace strata::compare {
namespace {

constexpr double kCallSMin = 1e-8;
constexpr double kSampleSMax = 0.02;  // of a sample with more than one call
constexpr int kSamplesMax = 400;
constexpr double kWarmupShare = 0.15;
constexpr int kWarmupsMax = 50;
constexpr std::size_t kFloatsPerLine = 16;

int calls_for(std::uint64_t bytes) {
  if (bytes <= 1 << 10) return 32;
  if (bytes <= 16 << 10) return 8;
  return bytes <= 256 << 10 ? 2 : 1;
}

float input_at(int rank, std::uint64_t index) {
  return static_cast<float>(rank + 1 + static_cast<int>(index % 7));
}

float sum_at(int ranks, std::uint64_t index) {
  return static_cast<float>(ranks * (ranks + 1) / 2 + ranks * static_cast<int>(index % 7));
}

// What element i of this rank's output must be.
float output_at(Collective collective, int rank, int ranks, std::uint64_t part, std::uint64_t i) {
  switch (collective) {
    case Collective::all_reduce:
    case Collective::reduce: return sum_at(ranks, i);
    case Collective::reduce_scatter: return sum_at(ranks, static_cast<std::uint64_t>(rank) * part + i);
    case Collective::all_gather: return input_at(static_cast<int>(i / part), i % part);
    case Collective::all_to_all:
      return input_at(static_cast<int>(i / part), static_cast<std::uint64_t>(rank) * part + i % part);
    case Collective::broadcast: return input_at(0, i);
    case Collective::ping_pong:
    case Collective::send: return input_at(0, i);
    case Collective::barrier: break;
  }
  return 0;
}

// The smallest of the sorted values that so many per cent of them do not exceed, as strata-perf counts.
double percentile(const std::vector<double>& sorted, double percent) {
  const double position = std::ceil(percent / 100 * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::max(position, 0.0))];
}

}  // namespace

Plan plan_for(std::uint64_t bytes, double call_s, const Arguments& arguments) {
  call_s = std::max(call_s, kCallSMin);
  Plan plan;
  plan.calls =
      arguments.touched ? 1 : std::clamp(static_cast<int>(kSampleSMax / call_s), 1, calls_for(bytes));
  const double fit = arguments.seconds / (call_s * plan.calls);
  plan.samples = static_cast<int>(std::clamp<double>(fit, arguments.samples_min, kSamplesMax));
  plan.warmups = static_cast<int>(std::clamp<double>(kWarmupShare * fit, 1, kWarmupsMax));
  return plan;
}

int messages_per_call(Collective collective, std::uint64_t bytes) {
  constexpr std::uint64_t kWindow = 64, kWindowBytesMax = 64 << 20;
  if (collective == Collective::ping_pong) return 2;
  if (collective != Collective::send) return 1;
  return static_cast<int>(
      std::clamp<std::uint64_t>(kWindowBytesMax / std::max<std::uint64_t>(bytes, 1), 2, kWindow));
}

Buffers counts_of(Collective collective, std::uint64_t bytes, int ranks) {
  const std::uint64_t count = bytes / sizeof(float), part = count / static_cast<std::uint64_t>(ranks);
  Buffers b;
  b.in_count = collective == Collective::all_gather ? part : count;
  b.out_count = collective == Collective::reduce_scatter ? part : count;
  return b;
}

void fill(Collective collective, int rank, const Buffers& b) {
  std::fill_n(b.out, b.out_count, -1.0f);
  if (collective == Collective::broadcast && rank != 0) return;
  for (std::uint64_t i = 0; i < b.in_count; ++i) b.in[i] = input_at(rank, i);
}

bool is_right(Collective collective, int rank, int ranks, const Buffers& b) {
  if (collective == Collective::reduce && rank != 0) return true;
  if (collective == Collective::send && rank != 1) return true;
  const std::uint64_t part = collective == Collective::reduce_scatter
                                 ? b.out_count
                                 : b.out_count / static_cast<std::uint64_t>(ranks);
  for (std::uint64_t i = 0; i < b.out_count; ++i)
    if (b.out[i] != output_at(collective, rank, ranks, part, i)) return false;
  return true;
}

void clear(const Buffers& b) {
  std::fill_n(b.in, b.in_count, 0.0f);
  std::fill_n(b.out, b.out_count, 0.0f);
}

void touch(const Buffers& b) {
  [[maybe_unused]] static volatile float sink;
  float sum = 0;
  for (std::uint64_t i = 0; i < b.out_count; i += kFloatsPerLine) sum += b.out[i];
  sink = sum;
  std::fill_n(b.in, b.in_count, 0.0f);
}

void print_row(const Row& row, const Plan& plan, std::span<const double> times_s) {
  std::vector<double> sorted(times_s.begin(), times_s.end());
  std::sort(sorted.begin(), sorted.end());
  std::printf("compare,%s,%s,%d,%llu,%.4f,%.4f,%.4f,%zu,%d,%d\n", row.variant.c_str(), row.name.c_str(),
              row.ranks, static_cast<unsigned long long>(row.bytes), percentile(sorted, 50) * 1e6,
              percentile(sorted, 99) * 1e6, sorted[0] * 1e6, sorted.size(), plan.calls, row.right ? 1 : 0);
  std::fflush(stdout);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace strata::compare
