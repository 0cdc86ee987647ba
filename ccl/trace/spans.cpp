#include "ccl/trace/spans.hpp"

#include <algorithm>

namespace strata {

std::atomic<bool> TraceSpan::recorded_{false};
std::atomic<trace::Recorder*> TraceSpans::recorder_{nullptr};

void TraceSpans::record_to(trace::Recorder& recorder) {
  trace::Recorder* none = nullptr;
  if (recorder_.compare_exchange_strong(none, &recorder)) TraceSpan::recorded_ = true;
}

void TraceSpans::stop(trace::Recorder& recorder) {
  trace::Recorder* mine = &recorder;
  if (recorder_.compare_exchange_strong(mine, nullptr)) TraceSpan::recorded_ = false;
}

void TraceSpan::begin(std::string_view name, int index, TraceCategory category) {
  trace::Recorder* const recorder = TraceSpans::recorder();
  if (recorder == nullptr) return;
  trace::Record r;
  r.name = {};
  std::copy_n(name.begin(), std::min(name.size(), r.name.size()), r.name.begin());
  r.detail = static_cast<std::uint32_t>(index);
  r.what = static_cast<std::uint8_t>(category);
  r.time = recorder->now();
  recorder->add(trace::Kind::begin, r);
}

void TraceSpan::end() {
  trace::Recorder* const recorder = TraceSpans::recorder();
  if (recorder == nullptr) return;
  trace::Record r;
  r.time = recorder->now();
  recorder->add(trace::Kind::end, r);
}

}  // namespace strata
