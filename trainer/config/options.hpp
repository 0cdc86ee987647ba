// The table of settings: where each is written in the file, what it may be, and how to set it from text.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strata/status.hpp"
#include "trainer/config/config.hpp"

namespace strata::trainer {

using Member = std::variant<std::int64_t Config::*, double Config::*, std::string Config::*, bool Config::*>;

struct Option {
  const char* section;
  const char* name;  // the flag is --name with hyphens
  Member member;
  double minimum, maximum;  // of numbers
  const char* help;
  std::string key() const { return std::string(section) + "." + name; }
  std::string flag() const;
};

std::span<const Option> options();
std::vector<std::string_view> sections();

// Where a value was written: "file:line" or "--flag"; for messages.
struct Setting {
  std::string where, text;
};
// Errors: invalid_argument naming where, the key, the value and what it may be.
Status set_integer(const Option& option, const Setting& setting, std::int64_t value, Config& config);
Status set_real(const Option& option, const Setting& setting, double value, Config& config);
Status set_text(const Option& option, const Setting& setting, Config& config);
Status set_switch(const Option& option, const Setting& setting, bool value, Config& config);
// From a flag's text, whatever the option's kind.
Status set_from_flag(const Option& option, const std::string& text, Config& config);

std::string value_of(const Option& option, const Config& config);

}  // namespace strata::trainer
