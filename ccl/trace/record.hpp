// What is recorded of a rank: fixed records that are written once and hold no pointers.
#pragma once
#include <array>
#include <cstdint>
#include <type_traits>

#include "strata/types.hpp"

namespace strata::trace {

enum class Kind : std::uint8_t {
  none,       // not written yet
  submitted,  // an operation was called: bytes; what: Collective; detail: its priority
  started,    // the engine took it up: what: Way; detail: its algorithm's number in the catalog
  ended,      // what: ErrorCode; detail: Way
  at_once,    // a whole operation, done within its call: bytes; what: Collective
  posted,     // a message was handed to its transport: bytes; what: Direction; detail: its number
  departed,   // its first byte goes out
  completed,  // it is there, or its memory is free again
  step,       // a local step of an operation: bytes; what: Local
  wait,       // a thread waited for an operation
  begin,      // a span of the application: its name; what: TraceCategory; detail: its index
  end,        // of the thread's innermost span
};
inline constexpr int kKinds = 12;

// By an algorithm's messages, on common memory, or as one message.
enum class Way : std::uint8_t { algorithm, shared_memory, send, receive };
enum class Direction : std::uint8_t { send, receive };
enum class Local : std::uint8_t { copy, reduce };

inline constexpr std::size_t kNameBytesMax = 24;  // longer names are cut

struct Record {
  // When it began, and how long it took (at_once, step, wait): in ticks of clock.hpp while it is written, in
  // a Part in nanoseconds of the host's CLOCK_MONOTONIC.
  std::uint64_t time = 0;
  struct Measures {
    std::uint64_t duration = 0;
    std::uint64_t operation = 0;  // its number in its communicator
    std::uint64_t bytes = 0;
  };
  union {
    Measures of = {};
    std::array<char, kNameBytesMax> name;  // begin; zeros follow
  };
  std::uint32_t communicator = 0;
  std::int32_t peer = kNoRank;  // of the job; of messages, and of send and recv
  std::uint32_t detail = 0;
  std::uint16_t thread = 0;
  std::uint8_t what = 0;
  Kind kind = Kind::none;  // written last
};
static_assert(sizeof(Record) == 48 && std::is_trivially_copyable_v<Record>);

}  // namespace strata::trace
