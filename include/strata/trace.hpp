// Spans of the application's own work in the job's timeline (CommunicatorOptions::trace).
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

#include "strata/export.h"

namespace strata {

// compute: communication that is in flight meanwhile is hidden behind it, in the summary.
enum class TraceCategory : std::uint8_t { compute, data, other };

// From its construction to its destruction, on the calling thread; spans nest. Of the name 24 bytes are kept;
// an index, if there is one, is shown after it. Costs one relaxed load while no timeline is recorded. Spans
// go to the timeline of the process's first communicator that has one.
class STRATA_API TraceSpan final {
 public:
  explicit TraceSpan(std::string_view name, TraceCategory category = TraceCategory::compute)
      : TraceSpan(name, -1, category) {}
  TraceSpan(std::string_view name, int index, TraceCategory category = TraceCategory::compute)
      : open_(recorded()) {
    if (open_) [[unlikely]]
      begin(name, index, category);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;
  ~TraceSpan() {
    if (open_) [[unlikely]]
      end();
  }

  // The same where a scope does not do: each begin() needs an end() on its thread, the innermost first.
  static void begin(std::string_view name, int index = -1, TraceCategory category = TraceCategory::compute);
  static void end();
  static bool recorded() { return recorded_.load(std::memory_order_relaxed); }

 private:
  friend class TraceSpans;  // internal
  static std::atomic<bool> recorded_;
  const bool open_;
};

}  // namespace strata
