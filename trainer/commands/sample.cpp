// strata-gpt sample
#include <fmt/format.h>

#include <memory>

#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/commands/commands.hpp"
#include "trainer/sample/generate.hpp"

namespace strata::trainer {
namespace {

struct SampleFlags {
  std::string checkpoint, prompt = "\n";
  SampleOptions options;
  int threads = 0;
};

int sample(const SampleFlags& flags) {
  const auto device = make_cpu_device(flags.threads);
  auto model = load_checkpoint(flags.checkpoint, 1, *device);
  if (!model.ok()) return report(model.status());
  fmt::print("{}", flags.prompt);
  generate(*model->gpt, flags.prompt, flags.options, [](char c) {
    std::fputc(c, stdout);
    std::fflush(stdout);
  });
  fmt::print("\n");
  return 0;
}

}  // namespace

void add_sample(CLI::App& program, int& exit_code) {
  CLI::App* command = program.add_subcommand("sample", "Write text with a trained model");
  const auto flags = std::make_shared<SampleFlags>();
  command->add_option("checkpoint", flags->checkpoint, "safetensors file of a byte-level GPT-2")->required();
  command->add_option("--prompt", flags->prompt, "how the text begins")->type_name("TEXT");
  command->add_option("--tokens", flags->options.tokens, "how long it goes on")->capture_default_str();
  command->add_option("--temperature", flags->options.temperature, "0: always the likeliest token")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--top-k", flags->options.top_k, "draw from the k likeliest tokens; 0: from all")
      ->capture_default_str();
  command->add_option("--seed", flags->options.seed, "another one, another text")->capture_default_str();
  command->add_option("--threads", flags->threads, "0: all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->footer(
      "\nEXAMPLES\n  strata-gpt sample model.safetensors --prompt 'Once upon a time' --temperature 0.7\n");
  command->callback([flags, &exit_code] { exit_code = sample(*flags); });
}

}  // namespace strata::trainer
