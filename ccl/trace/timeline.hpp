// From records to what has happened: operations, messages and what threads did, each with its beginning and
// its end. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ccl/trace/part.hpp"
#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata::trace {

// Times are nanoseconds of rank 0's host. What had not ended ends with the timeline.
using Time = std::int64_t;
inline constexpr Time kNever = INT64_MIN;

struct Interval {
  Time begin = kNever, end = kNever;
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct OperationSpan {
  std::uint32_t communicator = 0;
  std::uint64_t number = 0;
  Rank peer = kNoRank;  // of send and recv
  Collective collective = Collective::barrier;
  Way way = Way::algorithm;
  std::uint32_t algorithm = 0;  // of Way::algorithm: in the catalog
  std::uint64_t bytes = 0;
  std::int32_t priority = 0;
  ErrorCode error = ErrorCode::ok;
  bool has_ended = false;
  // kNever: it was not recorded, or has not come to that.
  Time submitted = kNever, started = kNever, departed = kNever, ended = kNever;

  Time begin() const { return submitted != kNever ? submitted : started; }
  // What lies between them is queueing: until its first byte went out, or else until it was started.
  Time served() const { return departed != kNever ? departed : started; }
};

struct MessageSpan {
  std::uint32_t communicator = 0, number = 0;  // within its operation and lane
  std::uint64_t operation = 0;
  Rank peer = kNoRank;
  Direction direction = Direction::send;
  std::uint64_t bytes = 0;
  Interval time;
  Time departed = kNever;
  bool has_ended = false;
};

struct ThreadSpan {
  std::uint16_t thread = 0;
  std::string name;
  std::string category;  // "compute", "data", "other", "wait", "step"
  std::uint64_t bytes = 0;
  Interval time;
};

struct Timeline {
  Rank rank = 0;
  int pid = 0;
  std::string host;
  std::vector<std::string> threads;  // names, as far as they are known
  std::uint64_t records = 0, dropped = 0;
  ClockOffset first, last;
  Interval time;  // from the beginning to the last record
  std::vector<OperationSpan> operations;
  std::vector<MessageSpan> messages;
  std::vector<ThreadSpan> spans;
};

Timeline timeline_of(const Part& part);

}  // namespace strata::trace
