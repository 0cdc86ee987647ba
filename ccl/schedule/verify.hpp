// Proves that the schedules of all ranks together do what a collective means, in whatever order things
// happen.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ccl/schedule/schedule.hpp"
#include "ccl/schedule/specification.hpp"

namespace strata {

enum class Flaw : std::uint8_t {
  none,
  malformed,        // a step or the stored order makes no sense by itself
  out_of_bounds,    // a step touches bytes outside its buffer
  input_written,    // a step writes to the caller's input
  race,             // two steps touch the same bytes, one of them writes, and no order is between them
  unmatched,        // a message without its other end, or two with the same name
  length_mismatch,  // the two ends of a message differ in length
  deadlock,         // steps wait for each other when no send ends before its receive has begun
  undefined_read,   // bytes nobody has written are summed or end in a result
  mixed_elements,   // different elements are summed
  double_count,     // a rank's contribution is summed twice
  finish_misused,  // the last scaling is applied too early, twice, not at all, or to an operation without one
  wrong_result,    // an element of an output is not what it must be
  order_differs,   // ranks sum the same element in different orders: their results may differ in the last bit
  not_synchronized  // a barrier ends at a rank that has not heard of all the others
};
std::string_view to_string(Flaw flaw);

struct Verdict {
  Flaw flaw = Flaw::none;
  std::string message;  // which rank, step and element
  bool ok() const { return flaw == Flaw::none; }
};

// schedules[r] is rank r's. Sends are taken to be unbuffered and messages matched by (sender, receiver,
// Schedule::message). What can run is then never taken away by what runs first, and conflicting steps are
// ordered (both are proved), so one execution on symbols stands for all interleavings; `seed`, if not 0,
// shuffles it. Time grows with elements moved, and for each rank with steps^2 / 64.
Verdict verify(std::span<const Schedule> schedules, const Specification& specification,
               std::uint64_t seed = 0);

// "recv_reduce from 3: output[0, 16) and scratch[64, 80)"; in bytes.
std::string describe(const Step& step);

}  // namespace strata
