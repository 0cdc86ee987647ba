// Writes the JSON lines, each at once, so that others can follow the file.
#include "trainer/report/metrics.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace strata::trainer {

Expected<Metrics> Metrics::open(const std::string& path) {
  Metrics metrics;
  metrics.path_ = path;
  if (path.empty()) return metrics;
  metrics.file_.reset(std::fopen(path.c_str(), "we"));
  if (!metrics.file_)
    return Status(ErrorCode::unavailable,
                  fmt::format("{}: cannot write metrics: {}", path, std::strerror(errno)));
  return metrics;
}

void Metrics::step(const StepResult& r, double tokens_per_second) {
  if (!file_) return;
  write(
      fmt::format("{{\"step\": {}, \"loss\": {:.9g}, \"learning_rate\": {:.6g}, \"grad_norm\": {:.6g}, "
                  "\"seconds\": {:.6g}, "
                  "\"exposed_ms\": {:.4g}, \"tokens_per_second\": {:.6g}}}\n",
                  r.step + 1, r.loss, r.learning_rate, r.grad_norm, r.seconds, r.exposed_seconds * 1e3,
                  tokens_per_second));
}

void Metrics::validation(std::int64_t steps_done, double loss) {
  if (file_) write(fmt::format("{{\"step\": {}, \"validation_loss\": {:.9g}}}\n", steps_done, loss));
}

void Metrics::write(const std::string& line) {
  if (std::fputs(line.c_str(), file_.get()) != EOF && std::fflush(file_.get()) == 0) return;
  status_ = Status(ErrorCode::unavailable, fmt::format("{}: cannot write metrics: {}; going on without them",
                                                       path_, std::strerror(errno)));
  file_.reset();
}

}  // namespace strata::trainer
