// Runs a step: micro-batches, overlapped sums, clipping, update.
#include "trainer/train/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "trainer/train/stop_signal.hpp"

namespace strata::trainer {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The sum of token losses over this rank's samples of the step.
double forward_backward(Session& s, std::int64_t step, float grad_scale) {
  const std::size_t sequence = s.gpt->table().shape().sequence;
  const auto batch = static_cast<std::uint64_t>(s.config.batch);
  const SampleRange mine = share_of(batch, s.peers.rank(), s.peers.size());
  double sum = 0;
  for (std::uint64_t first = mine.begin; first < mine.end; first += s.micro_batch) {
    const auto count = std::min<std::uint64_t>(s.micro_batch, mine.end - first);
    s.train_sampler->load(static_cast<std::uint64_t>(step) * batch + first, count, s.tokens.data(),
                          s.targets.data());
    const bool last = first + count == mine.end;  // only then are the gradients whole
    sum += s.gpt->forward_backward({s.tokens.data(), s.targets.data(), count, sequence}, grad_scale,
                                   last ? &*s.sync : nullptr);
  }
  return sum;
}

std::uint64_t fingerprint(const float* values, std::size_t count) {
  std::uint64_t hash = count;
  for (std::size_t i = 0; i < count; ++i)
    hash = (hash ^ std::bit_cast<std::uint32_t>(values[i])) * 0x9e3779b97f4a7c15u;
  return hash;
}

}  // namespace

Expected<StepResult> train_step(Session& s, std::int64_t step) {
  const auto start = Clock::now();
  StepResult result;
  result.step = step;
  result.learning_rate = s.learning_rate.at(step);
  const double tokens = static_cast<double>(s.config.batch) * static_cast<double>(s.config.sequence);
  double totals[] = {forward_backward(s, step, static_cast<float>(1 / tokens)), stop_signal() ? 1.0 : 0.0};
  const Work totals_work = s.peers.sum(totals);
  const auto waiting = Clock::now();
  if (Status status = s.sync->finish(); !status.ok()) return status;
  if (Status status = totals_work.wait(); !status.ok()) return status;
  result.exposed_seconds = seconds_since(waiting);
  result.loss = totals[0] / tokens;
  result.stop = totals[1] > 0;
  result.grad_norm = std::sqrt(s.device->sum_of_squares(s.gpt->table().floats(), s.gpt->grads()));
  if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm))
    return Status(
        ErrorCode::aborted,
        fmt::format(
            "step {}: the loss is {} and the gradient's norm {}: training has diverged and stops here. A "
            "smaller optimizer.learning_rate (now {}) or a longer optimizer.warmup_steps (now {}) helps",
            step + 1, result.loss, result.grad_norm, s.config.learning_rate, s.config.warmup_steps));
  const double clip = s.config.clip_norm;
  const double grad_scale = clip > 0 && result.grad_norm > clip ? clip / result.grad_norm : 1;
  s.optimizer->step(result.learning_rate, grad_scale, s.gpt->weights(), s.gpt->grads());
  s.device->synchronize();
  result.seconds = seconds_since(start);
  return result;
}

Expected<double> validation_loss(Session& s) {
  const std::uint64_t weights = fingerprint(s.gpt->weights(), s.gpt->table().floats());
  if (Status status = s.peers.expect_equal(weights, "weights"); !status.ok()) return status;
  const std::size_t sequence = s.gpt->table().shape().sequence;
  const SampleRange mine = share_of(s.validation_sampler->samples(), s.peers.rank(), s.peers.size());
  double total = 0;
  for (std::uint64_t first = mine.begin; first < mine.end; first += s.micro_batch) {
    const auto count = std::min<std::uint64_t>(s.micro_batch, mine.end - first);
    s.validation_sampler->load(first, count, s.tokens.data(), s.targets.data());
    total += s.gpt->loss({s.tokens.data(), s.targets.data(), count, sequence});
  }
  if (Status status = s.peers.sum(std::span(&total, 1)).wait(); !status.ok()) return status;
  return total / static_cast<double>(s.validation_sampler->samples() * sequence);
}

}  // namespace strata::trainer
