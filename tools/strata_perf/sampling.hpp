// How many calls, and how often, --sampled times: a rule that programs for other libraries can follow too.
#pragma once
#include <cstdint>

namespace strata::perf {

struct SamplingPlan {
  int calls = 1;    // one after another, timed together: a sample
  int samples = 1;  // timed
  int warmups = 0;  // samples before them
};

// bytes: the size of the call. call_us: what one call takes, about; the same on all ranks.
// touched: buffers are touched before each sample, which then is one call.
SamplingPlan sampling_plan(std::uint64_t bytes, double call_us, double seconds, bool touched);

}  // namespace strata::perf
