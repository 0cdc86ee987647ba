// The settings of strata-gpt, written out.
#include "trainer/config/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace strata::trainer {
namespace {

using C = Config;
constexpr double kMany = 1e15;

const Option kOptions[] = {
    {"model", "layers", &C::layers, 1, 1000, "transformer blocks"},
    {"model", "heads", &C::heads, 1, 1000, "attention heads; must divide width"},
    {"model", "width", &C::width, 1, 100'000, "floats of the residual stream"},
    {"model", "sequence", &C::sequence, 1, 1'000'000, "tokens the model sees at once"},
    {"model", "vocabulary", &C::vocabulary, 256, 10'000'000, "tokens there are; bytes need 256"},

    {"data", "text", &C::text, 0, 0, "file to train on"},
    {"data", "validation_text", &C::validation_text, 0, 0, "file to judge by (default: the end of text)"},
    {"data", "validation_fraction", &C::validation_fraction, 0.0001, 0.9,
     "part of text held back for judging"},

    {"optimizer", "learning_rate", &C::learning_rate, 0, 10, "AdamW's, at the end of the warm-up"},
    {"optimizer", "minimum_learning_rate", &C::minimum_learning_rate, 0, 10, "where the cosine ends"},
    {"optimizer", "warmup_steps", &C::warmup_steps, 0, kMany, "steps of linear increase"},
    {"optimizer", "beta1", &C::beta1, 0, 0.999999, "decay of the gradient's mean"},
    {"optimizer", "beta2", &C::beta2, 0, 0.999999, "decay of its square's mean"},
    {"optimizer", "epsilon", &C::epsilon, 1e-20, 1, "added to the denominator"},
    {"optimizer", "weight_decay", &C::weight_decay, 0, 10, "decoupled decay of matrices"},
    {"optimizer", "clip_norm", &C::clip_norm, 0, 1e9, "largest norm of the whole gradient; 0: any"},

    {"training", "steps", &C::steps, 1, kMany, "updates of the weights"},
    {"training", "batch", &C::batch, 1, kMany, "sequences a step, over all ranks"},
    {"training", "micro_batch", &C::micro_batch, 0, 1e6,
     "sequences a rank holds at once; 0: its whole share"},
    {"training", "seed", &C::seed, 0, 9e15, "of the first weights and of the order of the data"},
    {"training", "threads", &C::threads, 0, 4096, "of a rank; 0: the host's cores, shared by its ranks"},

    {"communication", "bucket_mb", &C::bucket_mb, 0.001, 4096,
     "MiB of a layer's gradients that are enough for one operation; none has those of two layers"},
    {"communication", "overlap", &C::overlap, 0, 0,
     "sum gradients while backward goes on; false: when it has ended"},
    {"communication", "priority", &C::priority, 0, 0,
     "gradients of front layers go first; false: in the order in which they are there"},
    {"communication", "crossing", &C::crossing, 0, 0,
     "the next forward waits, layer by layer, for that layer's weights only, if clip_norm is 0; false: for "
     "all"},

    {"validation", "validate_every", &C::validate_every, 0, kMany,
     "steps between validation losses; 0: at the end"},
    {"validation", "validation_samples", &C::validation_samples, 0, kMany, "sequences to judge by; 0: all"},

    {"output", "log_every", &C::log_every, 1, kMany, "steps between lines where there is no terminal"},
    {"output", "metrics", &C::metrics, 0, 0, "file for one JSON object a step"},
    {"output", "trace", &C::trace, 0, 0, "file for the timeline of all ranks, for Perfetto (STRATA_TRACE)"},
    {"output", "checkpoint", &C::checkpoint, 0, 0, "safetensors file for the weights, Hugging Face names"},
    {"output", "checkpoint_every", &C::checkpoint_every, 0, kMany, "steps between saves; 0: at the end"},

    {"sample", "sample_tokens", &C::sample_tokens, 0, 1e7, "tokens of text to show at the end"},
    {"sample", "prompt", &C::prompt, 0, 0, "how that text begins"},
    {"sample", "temperature", &C::temperature, 0, 100, "0: always the likeliest token"},
    {"sample", "top_k", &C::top_k, 0, 1e7, "draw from the k likeliest tokens; 0: from all"},

    {"reference", "reference_loss", &C::reference_loss, 0, 100,
     "what this model reaches when trained to the end"},
    {"reference", "reference_command", &C::reference_command, 0, 0, "the command that found it"},
};

// As messages call what an option takes.
const char* kind_of(const Option& option) {
  if (std::holds_alternative<std::int64_t Config::*>(option.member)) return "a whole number";
  if (std::holds_alternative<double Config::*>(option.member)) return "a number";
  return std::holds_alternative<bool Config::*>(option.member) ? "true or false" : "text";
}

Status wrong(const Option& option, const Setting& setting, std::string_view what) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}: {} = {}: {}", setting.where, option.key(), setting.text, what)};
}

template <class T>
Status set_number(const Option& option, const Setting& setting, T value, T Config::*member, Config& config) {
  const auto real = static_cast<double>(value);
  if (!(real >= option.minimum && real <= option.maximum))
    return wrong(option, setting,
                 fmt::format("must be from {:.15g} to {:.15g}", option.minimum, option.maximum));
  config.*member = value;
  return {};
}

template <class T>
bool read_number(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::span<const Option> options() { return kOptions; }

std::vector<std::string_view> sections() {
  std::vector<std::string_view> names;
  for (const Option& option : kOptions)
    if (names.empty() || names.back() != option.section) names.emplace_back(option.section);
  return names;
}

std::string Option::flag() const {
  std::string text = std::string("--") + name;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

Status set_integer(const Option& option, const Setting& setting, std::int64_t value, Config& config) {
  if (const auto* member = std::get_if<std::int64_t Config::*>(&option.member))
    return set_number(option, setting, value, *member, config);
  return set_real(option, setting, static_cast<double>(value), config);
}

Status set_real(const Option& option, const Setting& setting, double value, Config& config) {
  if (const auto* member = std::get_if<double Config::*>(&option.member))
    return set_number(option, setting, value, *member, config);
  return wrong(option, setting, fmt::format("must be {}", kind_of(option)));
}

Status set_text(const Option& option, const Setting& setting, Config& config) {
  const auto* member = std::get_if<std::string Config::*>(&option.member);
  if (!member) return wrong(option, setting, fmt::format("must be {}", kind_of(option)));
  config.*(*member) = setting.text;
  return {};
}

Status set_switch(const Option& option, const Setting& setting, bool value, Config& config) {
  const auto* member = std::get_if<bool Config::*>(&option.member);
  if (!member) return wrong(option, setting, fmt::format("must be {}", kind_of(option)));
  config.*(*member) = value;
  return {};
}

Status set_from_flag(const Option& option, const std::string& text, Config& config) {
  const Setting setting{option.flag(), text};
  if (std::holds_alternative<std::string Config::*>(option.member)) return set_text(option, setting, config);
  if (text == "true" || text == "false") return set_switch(option, setting, text == "true", config);
  std::int64_t integer = 0;
  if (read_number(text, integer)) return set_integer(option, setting, integer, config);
  double real = 0;
  if (read_number(text, real) && std::isfinite(real)) return set_real(option, setting, real, config);
  return wrong(option, setting, fmt::format("must be {}", kind_of(option)));
}

std::string value_of(const Option& option, const Config& config) {
  struct Visitor {
    const Config& from;
    std::string operator()(std::int64_t Config::*m) const { return fmt::format("{}", from.*m); }
    std::string operator()(double Config::*m) const { return fmt::format("{}", from.*m); }
    std::string operator()(std::string Config::*m) const { return from.*m; }
    std::string operator()(bool Config::*m) const { return from.*m ? "true" : "false"; }
  };
  return std::visit(Visitor{config}, option.member);
}

}  // namespace strata::trainer
