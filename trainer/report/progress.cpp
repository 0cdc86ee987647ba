// Formats and rewrites the progress line.
#include "trainer/report/progress.hpp"

#include <fmt/format.h>

#include <cmath>

namespace strata::trainer {
namespace {

constexpr double kSmoothing = 0.1;                       // share of the newest step in the average
constexpr std::chrono::milliseconds kRewriteEvery{100};  // faster than that nobody reads
constexpr const char* kClearLine = "\r\033[K";

}  // namespace

std::string format_duration(double seconds) {
  const auto s = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string format_count(double count) {
  if (count < 1000) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.3g} k", count / 1e3);
  if (count < 1e9) return fmt::format("{:.3g} M", count / 1e6);
  return fmt::format("{:.3g} G", count / 1e9);
}

std::string Progress::line_of(const StepResult& result) const {
  const double left = static_cast<double>(options_.steps - result.step - 1) * step_seconds_;
  return fmt::format(
      "step {:>{}}/{}  loss {:.4f}  lr {:.2e}  norm {:.2f}  {} tokens/s  wait {:.1f} ms  ETA {}",
      result.step + 1, fmt::formatted_size("{}", options_.steps), options_.steps, result.loss,
      result.learning_rate, result.grad_norm, format_count(tokens_per_second()), result.exposed_seconds * 1e3,
      format_duration(left));
}

double Progress::tokens_per_second() const {
  return step_seconds_ > 0 ? options_.tokens_per_step / step_seconds_ : 0;
}

void Progress::step(const StepResult& result) {
  step_seconds_ += (step_seconds_ > 0 ? kSmoothing : 1) * (result.seconds - step_seconds_);
  const bool last = result.step + 1 == options_.steps;
  if (!options_.terminal) {
    if (last || result.step == 0 || (result.step + 1) % options_.log_every == 0) {
      fmt::print(options_.out, "{}\n", line_of(result));
      std::fflush(options_.out);
    }
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!last && now - shown_at_ < kRewriteEvery) return;
  shown_at_ = now;
  line_ = line_of(result);
  fmt::print(options_.out, "{}{}", kClearLine, line_);
  std::fflush(options_.out);
  line_open_ = true;
}

void Progress::note(std::string_view text) {
  fmt::print(options_.out, "{}{}\n", line_open_ ? kClearLine : "", text);
  if (line_open_) fmt::print(options_.out, "{}", line_);
  std::fflush(options_.out);
}

void Progress::finish() {
  if (line_open_) fmt::print(options_.out, "\n");
  line_open_ = false;
  std::fflush(options_.out);
}

}  // namespace strata::trainer
