// The commands of strata-gpt. Each adds itself to the program; its callback sets `exit_code`.
#pragma once
#include <CLI/CLI.hpp>

#include "strata/status.hpp"

namespace strata::trainer {

inline constexpr int kExitFailed = 1;  // the run failed
inline constexpr int kExitUsage = 2;   // what it was told makes no sense

void add_train(CLI::App& program, int& exit_code);
void add_sample(CLI::App& program, int& exit_code);
void add_evaluate(CLI::App& program, int& exit_code);

// Prints "strata-gpt: MESSAGE" to stderr and returns the exit code for the status.
int report(const Status& status);

}  // namespace strata::trainer
