// The training loop and its reports.
#include "trainer/commands/run_training.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/commands/summary.hpp"
#include "trainer/report/metrics.hpp"
#include "trainer/report/progress.hpp"
#include "trainer/train/step.hpp"

namespace strata::trainer {
namespace {

// Rank 0's eyes and hands; at the other ranks it does nothing.
class Run {
 public:
  Run(Session& session, Metrics metrics)
      : s_(session),
        steps_(session),
        speaks_(session.peers.rank() == 0),
        metrics_(std::move(metrics)),
        progress_({session.config.steps, static_cast<double>(session.config.batch * session.config.sequence),
                   session.config.log_every, ::isatty(STDOUT_FILENO) != 0, stdout}) {}

  Status loop() {
    if (Status status = validate(0); !status.ok()) return status;
    for (std::int64_t done = 1; done <= s_.config.steps && !stopped_; ++done)
      if (Status status = step(done); !status.ok()) return end_line(status);
    return end_line({});
  }

  const History& history() const { return history_; }

 private:
  static bool is_due(std::int64_t done, std::int64_t every) { return every > 0 && done % every == 0; }

  Status step(std::int64_t done) {
    if (Status status = take(steps_.run(done - 1)); !status.ok()) return status;
    const bool judges = is_due(done, s_.config.validate_every),
               saves = is_due(done, s_.config.checkpoint_every);
    if (done < s_.config.steps && !judges && !saves && !stopped_) return {};
    if (Status status = take(steps_.finish()); !status.ok()) return status;
    const bool last = done == s_.config.steps || stopped_;
    if (last || judges)
      if (Status status = validate(done); !status.ok()) return status;
    if (last || saves)
      if (Status status = save(done, last); !status.ok()) return status;
    if (stopped_ && speaks_) progress_.note(fmt::format("asked to stop: ended after step {}", done));
    return {};
  }

  Status take(const Expected<std::optional<StepResult>>& completed) {
    if (!completed.ok()) return completed.status();
    if (!completed->has_value()) return {};
    stopped_ = stopped_ || (*completed)->stop;
    show(**completed);
    return {};
  }

  Status end_line(Status status) {
    if (speaks_) progress_.finish();
    return status;
  }

  void show(const StepResult& result) {
    if (!speaks_) return;
    progress_.step(result);
    history_.train.add(static_cast<double>(result.step + 1), result.loss);
    history_.seconds += result.seconds;
    const bool could_write = metrics_.status().ok();
    metrics_.step(result, progress_.tokens_per_second());
    if (could_write && !metrics_.status().ok()) progress_.note(metrics_.status().message());
  }

  Status validate(std::int64_t done) {
    const auto loss = validation_loss(s_);
    if (!loss.ok()) return loss.status();
    validation_loss_ = *loss;
    if (!speaks_) return {};
    history_.validation.add(static_cast<double>(done), *loss);
    if (done == 0) history_.first_validation = *loss;
    history_.last_validation = *loss;
    metrics_.validation(done, *loss);
    progress_.note(fmt::format("step {}: validation loss {:.4f}", done, *loss));
    return {};
  }

  // A save on the way that fails (a full disk) is a warning: training goes on, and may succeed next time. The
  // last one is an error.
  Status save(std::int64_t done, bool last) {
    if (s_.config.checkpoint.empty()) return {};
    Status saved;
    if (speaks_) saved = save_checkpoint(s_.config.checkpoint, *s_.gpt, {done, validation_loss_});
    if (speaks_ && saved.ok()) progress_.note(fmt::format("step {}: saved {}", done, s_.config.checkpoint));
    if (last) return s_.peers.agree(saved);
    if (!saved.ok()) progress_.note(fmt::format("warning: {}; going on", saved.message()));
    return {};
  }

  Session& s_;
  Steps steps_;
  bool speaks_;
  bool stopped_ = false;  // a rank was asked to end the run
  Metrics metrics_;
  Progress progress_;
  History history_;
  double validation_loss_ = 0;
};

}  // namespace

Status run_training(Session& session) {
  const bool speaks = session.peers.rank() == 0;
  auto metrics = Metrics::open(speaks ? session.config.metrics : "");
  if (Status status = session.peers.agree(metrics.status()); !status.ok()) return status;
  if (speaks) print_header(session);
  Run run(session, std::move(metrics).value());
  if (Status status = run.loop(); !status.ok()) return status;
  // The last word is rank 0's; the others need not wait for it.
  if (Status status = session.peers.barrier(); !status.ok()) return status;
  if (speaks) print_summary(session, run.history());
  return {};
}

}  // namespace strata::trainer
