// strata-gpt train
#include <fmt/format.h>

#include <memory>

#include "trainer/commands/commands.hpp"
#include "trainer/commands/run_training.hpp"
#include "trainer/commands/settings.hpp"
#include "trainer/train/stop_signal.hpp"

namespace strata::trainer {
namespace {

constexpr const char* kFooter = R"(
Settings come from the file, and flags win over it. Paths in the file are relative to it. Every rank must be given
the same settings; the model they train does not depend on how many there are.

While it runs, SIGINT or SIGTERM ends the run after the current step, on all ranks, and saves the checkpoint.

EXIT STATUS
  0  trained, or stopped by a signal     1  the run failed     2  the settings are wrong

EXAMPLES
  Train a small model on a text, on this machine's cores:
    strata-gpt train --text book.txt --steps 2000
  On four ranks, keeping the weights:
    strata-run -n 4 -- strata-gpt train quickstart.toml --checkpoint model.safetensors
  Twice the batch in the memory of one half of it:
    strata-gpt train quickstart.toml --batch 64 --micro-batch 32
  Follow a run from another program:
    strata-gpt train quickstart.toml --metrics run.jsonl & tail -f run.jsonl)";

int train(const SettingFlags& flags) {
  watch_stop_signals();
  const auto config = flags.read();
  auto peers = Peers::from_environment(config.ok() ? config->trace : "");
  if (!peers.ok()) {
    if (!config.ok()) report(config.status());
    return report(peers.status());
  }
  // A mistake that all ranks see is told in full once.
  if (const Status agreed = peers->agree(config.status()); !agreed.ok()) return report(agreed);
  catch_stop_signals();
  auto session = Session::create(*config, *peers);
  if (!session.ok()) return report(session.status());
  const Status status = run_training(**session);
  return status.ok() ? 0 : report(status);
}

}  // namespace

void add_train(CLI::App& program, int& exit_code) {
  CLI::App* command = program.add_subcommand("train", "Train a GPT-2 on a text, on one rank or several");
  const auto flags = std::make_shared<SettingFlags>(
      *command,
      std::initializer_list<std::string_view>{"model", "data", "optimizer", "training", "communication",
                                              "validation", "output", "sample", "reference"});
  command->footer(kFooter);
  command->callback([flags, &exit_code] { exit_code = train(*flags); });
}

}  // namespace strata::trainer
