// Runs a step: micro-batches, then what of the update does not go on in the background.
#include "trainer/train/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "strata/trace.hpp"
#include "trainer/train/stop_signal.hpp"

namespace strata::trainer {
namespace {

double seconds_between(Update::Clock::time_point begin, Update::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

std::uint64_t fingerprint(const float* values, std::size_t count) {
  std::uint64_t hash = count;
  for (std::size_t i = 0; i < count; ++i)
    hash = (hash ^ std::bit_cast<std::uint32_t>(values[i])) * 0x9e3779b97f4a7c15u;
  return hash;
}

}  // namespace

Expected<std::optional<StepResult>> Steps::run(std::int64_t step) {
  const TraceSpan span("step", static_cast<int>(step), TraceCategory::other);
  if (!under_way_) begin_ = Update::Clock::now();
  const double loss = forward_backward(step);  // and the rest of the step before, if one is under way
  const auto before = complete(true);
  if (!before.ok()) return before;
  under_way_.emplace();
  under_way_->step = step;
  under_way_->learning_rate = s_.learning_rate.at(step);
  totals_[0] = loss;
  totals_[1] = stop_signal() ? 1 : 0;
  const bool first = s_.config.priority;  // small, and behind nothing
  totals_work_ = s_.peers.sum(totals_, first ? static_cast<std::int32_t>(s_.update->bucket_count()) : 0);
  return s_.update->crosses() ? before : finish();
}

Expected<std::optional<StepResult>> Steps::finish() {
  if (!under_way_) return std::optional<StepResult>();
  if (const Status status = s_.update->finish(); !status.ok()) return status;
  return complete(false);
}

// The sum of token losses over this rank's samples of the step.
double Steps::forward_backward(std::int64_t step) {
  const auto batch = static_cast<std::uint64_t>(s_.config.batch);
  const std::size_t sequence = s_.gpt->table().shape().sequence;
  const auto grad_scale = static_cast<float>(1 / static_cast<double>(batch * sequence));
  const SampleRange mine = share_of(batch, s_.peers.rank(), s_.peers.size());
  double sum = 0;
  for (std::uint64_t first = mine.begin; first < mine.end; first += s_.micro_batch) {
    const auto count = std::min<std::uint64_t>(s_.micro_batch, mine.end - first);
    {
      const TraceSpan span("data", TraceCategory::data);
      s_.train_sampler->load(static_cast<std::uint64_t>(step) * batch + first, count, s_.tokens.data(),
                             s_.targets.data());
    }
    if (first + count == mine.end) s_.update->expect(s_.learning_rate.at(step));
    sum += s_.gpt->forward_backward({s_.tokens.data(), s_.targets.data(), count, sequence}, grad_scale,
                                    &*s_.update);
  }
  return sum;
}

// All weights are new. crossed: the next step has begun already.
Expected<std::optional<StepResult>> Steps::complete(bool crossed) {
  if (!under_way_) return std::optional<StepResult>();
  if (const Status& status = s_.update->status(); !status.ok()) return status;
  const auto waiting = Update::Clock::now();
  if (Status status = totals_work_.wait(); !status.ok()) return status;
  const auto now = Update::Clock::now();
  const Update::Report& report = s_.update->report();
  const auto end = crossed ? report.at : now;
  StepResult result = *under_way_;
  under_way_.reset();
  result.loss = totals_[0] / static_cast<double>(s_.config.batch * s_.config.sequence);
  result.stop = totals_[1] > 0;
  result.grad_norm = report.grad_norm;
  result.exposed_seconds = report.exposed_seconds + seconds_between(waiting, now);
  result.seconds = seconds_between(begin_, end);
  begin_ = end;
  if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm))
    return Status(
        ErrorCode::aborted,
        fmt::format(
            "step {}: the loss is {} and the gradient's norm {}: training has diverged and stops here. A "
            "smaller optimizer.learning_rate (now {}) or a longer optimizer.warmup_steps (now {}) helps",
            result.step + 1, result.loss, result.grad_norm, s_.config.learning_rate, s_.config.warmup_steps));
  return std::optional<StepResult>(result);
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
