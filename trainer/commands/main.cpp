// strata-gpt: trains, evaluates and samples GPT models.
#include <fmt/format.h>

#include <exception>

#include "trainer/commands/commands.hpp"
#include "trainer/config/config_file.hpp"

namespace strata::trainer {

int report(const Status& status) {
  fmt::print(stderr, "strata-gpt: {}\n", status.message());
  return status.code() == ErrorCode::invalid_argument ? kExitUsage : kExitFailed;
}

namespace {

// "did you mean --layers?" for a flag that is none.
void suggest(const CLI::App& program, int argc, char** argv) {
  const auto chosen = program.get_subcommands();
  if (chosen.empty()) return;
  std::vector<std::string> flags;
  for (const CLI::Option* option : chosen.front()->get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  const std::vector<std::string_view> choices(flags.begin(), flags.end());
  for (int i = 2; i < argc; ++i) {
    const std::string_view given = std::string_view(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!given.starts_with("--") || std::find(choices.begin(), choices.end(), given) != choices.end())
      continue;
    const auto near = nearest(given, choices);
    if (!near.empty()) fmt::print(stderr, "{}: did you mean {}?\n", given, near);
  }
}

int run(int argc, char** argv) {
  CLI::App program("Trains, evaluates and samples GPT models on Strata's collectives.", "strata-gpt");
  program.require_subcommand(1);
  int exit_code = 0;
  add_train(program, exit_code);
  add_evaluate(program, exit_code);
  add_sample(program, exit_code);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // help was asked for
    suggest(program, argc, argv);
    program.exit(error);
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace
}  // namespace strata::trainer

int main(int argc, char** argv) {
  try {
    return strata::trainer::run(argc, argv);
  } catch (const std::exception& error) {  // from the libraries below; our own code does not throw
    fmt::print(stderr, "strata-gpt: {}\n", error.what());
    return strata::trainer::kExitFailed;
  }
}
