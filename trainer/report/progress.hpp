// What a person sees while a run goes on: one line that is rewritten on a terminal, a line now and then
// elsewhere.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "trainer/train/step.hpp"

namespace strata::trainer {

std::string format_duration(double seconds);  // "2:05", "1:02:05"
std::string format_count(double count);       // "950", "12.3 k", "1.85 M"

struct ProgressOptions {
  std::int64_t steps = 1;
  double tokens_per_step = 0;
  std::int64_t log_every = 20;
  bool terminal = false;
  std::FILE* out = stdout;
};

class Progress final {
 public:
  explicit Progress(const ProgressOptions& options) : options_(options) {}
  void step(const StepResult& result);
  // A line of its own, above the progress line.
  void note(std::string_view line);
  // Ends the progress line.
  void finish();
  double tokens_per_second() const;  // lately

 private:
  std::string line_of(const StepResult& result) const;
  ProgressOptions options_;
  double step_seconds_ = 0;  // smoothed
  std::int64_t last_shown_ = 0;
  std::chrono::steady_clock::time_point shown_at_{};
  bool line_open_ = false;
  std::string line_;
};

}  // namespace strata::trainer
