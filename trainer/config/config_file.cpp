// Reads the TOML file by the table of options, and says exactly what is wrong with it.
#include "trainer/config/config_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "trainer/config/options.hpp"

namespace strata::trainer {
namespace {

namespace fs = std::filesystem;

std::string place(const std::string& path, const toml::source_region& region) {
  return fmt::format("{}:{}", path, region.begin.line);
}

Status unknown(const std::string& where, std::string_view what, std::string_view name,
               std::span<const std::string_view> choices) {
  const auto near = nearest(name, choices);
  const std::string hint = near.empty() ? "" : fmt::format("did you mean '{}'? ", near);
  return {ErrorCode::invalid_argument, fmt::format("{}: unknown {} '{}'; {}it may be: {}", where, what, name,
                                                   hint, fmt::join(choices, ", "))};
}

// A setting's text as the user wrote it, near enough.
std::string text_of(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

Status set_from_node(const Option& option, const toml::node& node, const std::string& path, Config& config) {
  const Setting setting{place(path, node.source()), text_of(node)};
  if (const auto* integer = node.as_integer()) return set_integer(option, setting, integer->get(), config);
  if (const auto* real = node.as_floating_point()) return set_real(option, setting, real->get(), config);
  if (const auto* text = node.as_string()) {
    const Status status = set_text(option, {setting.where, text->get()}, config);
    return status;
  }
  if (const auto* value = node.as_boolean()) return set_switch(option, setting, value->get(), config);
  return {ErrorCode::invalid_argument, fmt::format("{}: {} = {}: must be a number, text, true or false",
                                                   setting.where, option.key(), setting.text)};
}

Status read_section(std::string_view section, const toml::table& table, const std::string& path,
                    Config& config) {
  std::vector<std::string_view> names;
  for (const Option& option : options())
    if (option.section == section) names.emplace_back(option.name);
  for (const auto& [key, node] : table) {
    const auto found = std::find_if(options().begin(), options().end(), [&](const Option& option) {
      return option.section == section && option.name == key.str();
    });
    if (found == options().end())
      return unknown(place(path, key.source()), fmt::format("key in [{}]", section), key.str(), names);
    if (Status status = set_from_node(*found, node, path, config); !status.ok()) return status;
  }
  return {};
}

// Paths in the file are meant from where the file is.
void resolve(const std::string& path, const Config& before, Config& config) {
  const fs::path directory = fs::path(path).parent_path();
  for (const auto member : {&Config::text, &Config::validation_text, &Config::metrics, &Config::checkpoint}) {
    std::string& value = config.*member;
    if (value.empty() || value == before.*member || fs::path(value).is_absolute()) continue;
    value = (directory / value).lexically_normal().string();
  }
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> choices) {
  const auto distance = [](std::string_view a, std::string_view b) {  // Levenshtein's
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i + 1);
      for (std::size_t j = 0; j < b.size(); ++j) {
        const std::size_t change = diagonal + (a[i] != b[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
      }
    }
    return row[b.size()];
  };
  std::string_view best;
  std::size_t least = word.size() / 2 + 2;  // farther than half the word is no typing mistake
  for (const auto choice : choices) {
    const std::size_t d = distance(word, choice);
    if (d < least) best = choice, least = d;
  }
  return best;
}

Status read_config_text(std::string_view text, const std::string& path, Config& config) {
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return {ErrorCode::invalid_argument,
            fmt::format("{}: {}", place(path, error.source()), error.description())};
  }
  const auto known = sections();
  const Config before = config;
  for (const auto& [key, node] : root) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end())
      return unknown(place(path, key.source()), "section", key.str(), known);
    const toml::table* table = node.as_table();
    if (!table)
      return {ErrorCode::invalid_argument, fmt::format("{}: {} must be a section: [{}]",
                                                       place(path, node.source()), key.str(), key.str())};
    if (Status status = read_section(key.str(), *table, path, config); !status.ok()) return status;
  }
  resolve(path, before, config);
  return {};
}

Status read_config(const std::string& path, Config& config) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad() || fs::is_directory(path))
    return {ErrorCode::unavailable,
            fmt::format("cannot read the configuration {}; see 'strata-gpt train --help'", path)};
  return read_config_text(text.str(), path, config);
}

Status check_config(const Config& config, int ranks) {
  const auto wrong = [](const std::string& what) { return Status(ErrorCode::invalid_argument, what); };
  if (config.text.empty())
    return wrong("data.text is not set: name the file to train on, by --text FILE or in the file");
  if (config.width % config.heads != 0) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= std::min<std::int64_t>(config.width, 64); ++d)
      if (config.width % d == 0) divisors.push_back(d);
    return wrong(fmt::format("model.heads = {} does not divide model.width = {}; it may be: {}", config.heads,
                             config.width, fmt::join(divisors, ", ")));
  }
  if (config.batch < ranks)
    return wrong(
        fmt::format("training.batch = {} sequences are fewer than the {} ranks; it must be at least {}",
                    config.batch, ranks, ranks));
  if (config.minimum_learning_rate > config.learning_rate)
    return wrong(fmt::format("optimizer.minimum_learning_rate = {} is above optimizer.learning_rate = {}",
                             config.minimum_learning_rate, config.learning_rate));
  if (config.warmup_steps >= config.steps)
    return wrong(
        fmt::format("optimizer.warmup_steps = {} leaves no step of training.steps = {} for training; make it "
                    "smaller than the steps",
                    config.warmup_steps, config.steps));
  if (config.checkpoint_every > 0 && config.checkpoint.empty())
    return wrong(fmt::format("output.checkpoint_every = {} needs output.checkpoint, the file to save to",
                             config.checkpoint_every));
  return {};
}

}  // namespace strata::trainer
