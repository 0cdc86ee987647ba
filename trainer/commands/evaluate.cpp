// strata-gpt evaluate
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/commands/commands.hpp"
#include "trainer/commands/settings.hpp"
#include "trainer/data/sampler.hpp"

namespace strata::trainer {
namespace {

constexpr std::size_t kSequencesAtOnce = 8;

Expected<double> mean_loss(const std::string& checkpoint, const Config& config) {
  const auto device = make_cpu_device(static_cast<int>(config.threads));
  auto model = load_checkpoint(checkpoint, kSequencesAtOnce, *device);
  if (!model.ok()) return model.status();
  const std::size_t sequence = model->gpt->table().shape().sequence;
  if (model->gpt->table().shape().vocabulary < 256)
    return Status(ErrorCode::invalid_argument,
                  fmt::format("{}: a vocabulary of {} cannot hold bytes", checkpoint,
                              model->gpt->table().shape().vocabulary));
  const auto corpus =
      Corpus::open({config.text, config.validation_text, config.validation_fraction, sequence});
  if (!corpus.ok()) return corpus.status();
  const ValidationSampler sampler(corpus->validation(), sequence,
                                  static_cast<std::size_t>(config.validation_samples));
  std::vector<std::int32_t> tokens(kSequencesAtOnce * sequence), targets(tokens.size());
  double sum = 0;
  for (std::size_t first = 0; first < sampler.samples(); first += kSequencesAtOnce) {
    const std::size_t count = std::min(kSequencesAtOnce, sampler.samples() - first);
    sampler.load(first, count, tokens.data(), targets.data());
    sum += model->gpt->loss({tokens.data(), targets.data(), count, sequence});
  }
  return sum / static_cast<double>(sampler.samples() * sequence);
}

int evaluate(const std::string& checkpoint, const SettingFlags& flags) {
  const auto config = flags.read();
  if (!config.ok()) return report(config.status());
  if (config->text.empty())
    return report(
        {ErrorCode::invalid_argument, "data.text is not set: name the text to judge by, by --text FILE"});
  const auto loss = mean_loss(checkpoint, *config);
  if (!loss.ok()) return report(loss.status());
  fmt::print("validation loss {:.6f} nats a token ({:.4f} bits, perplexity {:.3f})\n", *loss,
             *loss / std::log(2.0), std::exp(*loss));
  return 0;
}

}  // namespace

void add_evaluate(CLI::App& program, int& exit_code) {
  CLI::App* command = program.add_subcommand("evaluate", "Print the validation loss of a trained model");
  const auto checkpoint = std::make_shared<std::string>();
  command->add_option("checkpoint", *checkpoint, "safetensors file of a byte-level GPT-2")->required();
  const auto flags = std::make_shared<SettingFlags>(
      *command, std::initializer_list<std::string_view>{"data", "validation", "training"});
  command->footer(
      "\nEXAMPLES\n"
      "  On the held back end of the text it was trained on:\n"
      "    strata-gpt evaluate model.safetensors quickstart.toml\n"
      "  On a whole other text:\n"
      "    strata-gpt evaluate model.safetensors --text any.txt --validation-text other.txt "
      "--validation-samples 0\n");
  command->callback([checkpoint, flags, &exit_code] { exit_code = evaluate(*checkpoint, *flags); });
}

}  // namespace strata::trainer
