// Where the application's spans go.
#pragma once
#include <atomic>

#include "ccl/trace/recorder.hpp"
#include "strata/trace.hpp"

namespace strata {

// Any thread.
class TraceSpans final {
 public:
  static void record_to(trace::Recorder& recorder);  // unless there is one already
  static void stop(trace::Recorder& recorder);       // if it is that one
  static trace::Recorder* recorder() { return recorder_.load(std::memory_order_acquire); }

 private:
  static std::atomic<trace::Recorder*> recorder_;
};

}  // namespace strata
