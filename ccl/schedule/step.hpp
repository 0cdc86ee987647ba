// The words of a program: slices of buffers and what is done with them.
#pragma once
#include <cstdint>
#include <type_traits>

#include "strata/types.hpp"

namespace strata {

// Where bytes live. The caller's buffers are bound when a plan runs; scratch belongs to the run.
enum class Buffer : std::uint8_t { none, input, output, scratch };

// A byte range of a buffer.
struct Slice {
  Buffer buffer = Buffer::none;
  std::uint64_t offset = 0;  // bytes
  std::uint64_t length = 0;  // bytes
  friend bool operator==(const Slice&, const Slice&) = default;
};

enum class Op : std::uint8_t {
  send,         // source -> peer
  recv,         // peer -> target
  recv_reduce,  // target = source (op) what peer sends; source may be the target itself
  reduce,       // target = target (op) fan_in slices that lie one after another from source on, each `length`
           // long, in that order and rounded once; if `finish`, the operation's last scaling (average, scaled
           // sum) is applied to the result before it is rounded
  copy,  // source -> target
};

// One thing one rank does. No pointers: a step means the same in every process.
struct Step {
  Op op;
  std::uint8_t channel;  // send, recv, recv_reduce: which parallel path
  Buffer source;
  Buffer target;
  union {
    Rank peer;             // send, recv, recv_reduce: index in the communicator
    std::uint32_t reduce;  // reduce: fan_in << 1 | finish
  };
  std::uint64_t source_offset;
  std::uint64_t target_offset;
  std::uint64_t length;  // of the target; of the source for send

  bool on_wire() const { return op <= Op::recv_reduce; }
  std::uint32_t fan_in() const { return op == Op::reduce ? reduce >> 1 : 1; }
  bool finishes() const { return op == Op::reduce && (reduce & 1); }
  Slice from() const { return {source, source_offset, source == Buffer::none ? 0 : length * fan_in()}; }
  Slice into() const { return {target, target_offset, target == Buffer::none ? 0 : length}; }
};
static_assert(sizeof(Step) == 32 && std::is_trivially_copyable_v<Step>, "two steps a cache line");

using StepId = std::uint32_t;
inline constexpr StepId kStepsMax = 1u << 24;  // of one program; also the messages of one channel

}  // namespace strata
