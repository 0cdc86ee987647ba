// What can be measured: each collective with its name, what it needs to be told, and how its bandwidth
// counts.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "strata/types.hpp"

namespace strata::perf {

enum class Kind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  sendrecv,
  ping_pong,
  send,
  all_gather_v,
  reduce_scatter_v,
  gather_v,
  scatter_v,
  all_to_all_v,
  barrier
};

struct TestCase {
  Kind kind;
  std::string_view name;
  std::string_view summary;
  bool reduces = false;   // has an operation
  bool rooted = false;    // has a root
  bool in_place = true;   // can be measured in place
  bool per_rank = false;  // its count is that of one rank: the size given is shared out among the ranks
  bool uneven = false;    // a v form: ranks have different counts
  bool answers = false;   // a rank waits for a message within the call, so calls cannot be started together
};

std::span<const TestCase> test_cases();
const TestCase* find_test_case(std::string_view name);  // nullptr if there is none

// busbw / algbw: what makes the figure independent of the number of ranks on perfect hardware.
double bus_factor(const TestCase& test, int ranks);

// How many messages a call is made of, one after another or `window` at once; its time is divided by them. A
// window is smaller where it would hold more than 64 MiB, but two messages at least.
int messages_per_call(const TestCase& test, std::uint64_t bytes, int window);

// One call's sizes, in elements, on one rank.
struct Shape {
  std::uint64_t count = 0;  // as the call takes it, and as it is printed (v forms: the average)
  std::vector<std::uint64_t>
      counts;               // v forms: of rank i; all-to-all-v: of the block from i to j, at (i + j) % size
  std::uint64_t input = 0;  // this rank's buffers
  std::uint64_t output = 0;
  std::uint64_t moved = 0;  // what algbw counts
  std::uint64_t shown = 0;  // the larger of what a rank sends and receives
  // In place, the smaller buffer begins so many elements after the larger one.
  std::uint64_t input_offset = 0, output_offset = 0;
};
Shape shape_of(const TestCase& test, std::uint64_t elements, int ranks, Rank me, Rank root);

// Where a piece of the result comes from.
struct Source {
  static constexpr Rank kAllRanks = -1;  // the reduction of all ranks' inputs
  Rank owner;
  std::uint64_t first;  // index in the owner's input
  std::uint64_t count;
};
// What this rank's output must hold, from its begin on; empty if the call gives this rank nothing.
std::vector<Source> expected_output(const TestCase& test, const Shape& shape, int ranks, Rank me, Rank root);

}  // namespace strata::perf
