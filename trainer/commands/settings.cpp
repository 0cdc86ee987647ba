// Turns the table of options into flags.
#include "trainer/commands/settings.hpp"

#include <algorithm>

#include "trainer/config/config_file.hpp"
#include "trainer/config/options.hpp"

namespace strata::trainer {
namespace {

const char* kind_of(const Option& option) {
  if (std::holds_alternative<std::int64_t Config::*>(option.member)) return "INT";
  if (std::holds_alternative<double Config::*>(option.member)) return "NUMBER";
  return std::holds_alternative<bool Config::*>(option.member) ? "true|false" : "TEXT";
}

// A default as help shows it: text that is a line break would not be seen.
std::string shown(const std::string& text) { return text == "\n" ? "\\n" : text; }

}  // namespace

SettingFlags::SettingFlags(CLI::App& command, std::initializer_list<std::string_view> sections) {
  command.add_option("--config,config", file_, "TOML file with these settings, e.g. [model] layers = 6")
      ->type_name("CONFIG");
  given_.reserve(options().size());  // flags keep pointers into it
  const Config defaults;
  for (const Option& option : options()) {
    if (std::find(sections.begin(), sections.end(), option.section) == sections.end()) continue;
    Given& given = given_.emplace_back(Given{&option, nullptr, {}});
    given.flag = command.add_option(option.flag(), given.text, option.help)
                     ->type_name(kind_of(option))
                     ->group(std::string("[") + option.section + "]");
    const std::string value = shown(value_of(option, defaults));
    if (!value.empty()) given.flag->default_str(value);
  }
}

Expected<Config> SettingFlags::read() const {
  Config config;
  if (!file_.empty())
    if (Status status = read_config(file_, config); !status.ok()) return status;
  for (const Given& given : given_) {
    if (given.flag->count() == 0) continue;
    if (Status status = set_from_flag(*given.option, given.text, config); !status.ok()) return status;
  }
  return config;
}

}  // namespace strata::trainer
