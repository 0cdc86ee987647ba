// How all programs of this folder measure, so that their figures can be compared with each other and with
// those of strata-perf --sampled --untouched, which keeps the same rules:
//
// A sample is a barrier, then calls one after another, each ended before the next begins: 32 up to 1 KiB, 8
// up to 16 KiB, 2 up to 256 KiB, 1 above. Its time is the slowest rank's, divided by the calls. The root of
// broadcast and reduce goes round from call to call, so that no root runs ahead of the others. Sizes are
// those of nccl-tests: of the larger of a rank's two buffers.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/compare/arguments.hpp"

namespace strata::compare {

struct Plan {
  int calls = 1;    // in a sample
  int samples = 1;  // timed
  int warmups = 0;  // samples before them
};
// call_s: what one call takes, about; the same on all ranks.
Plan plan_for(std::uint64_t bytes, double call_s, const Arguments& arguments);

// How many messages a call is made of, one after another or at once; its time is divided by them. As
// strata-perf's ping_pong and send.
int messages_per_call(Collective collective, std::uint64_t bytes);

// What one rank works on. in == out: in place. Broadcast has one buffer only, so it is always in place.
struct Buffers {
  float* in = nullptr;
  float* out = nullptr;
  std::uint64_t in_count = 0, out_count = 0;
};
// The counts of a collective of so many bytes, which every rank gets an equal part of.
Buffers counts_of(Collective collective, std::uint64_t bytes, int ranks);

// Small whole numbers, so that sums are exact in any order. The root is rank 0.
void fill(Collective collective, int rank, const Buffers& buffers);
bool is_right(Collective collective, int rank, int ranks, const Buffers& buffers);
void clear(const Buffers& buffers);

// What a program does between calls: it writes its input and reads its output.
void touch(const Buffers& buffers);

// What a line says that is not measured.
struct Row {
  std::string variant, name;
  int ranks = 1;
  std::uint64_t bytes = 0;
  bool right = true;
};
// One line for bench/compare/compare to read: "compare", the row, and what was measured.
void print_row(const Row& row, const Plan& plan, std::span<const double> times_s);

double now_s();

}  // namespace strata::compare
