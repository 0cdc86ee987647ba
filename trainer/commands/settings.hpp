// Settings as flags: the table of options on a command line, over a configuration file.
#pragma once
#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"
#include "trainer/config/config.hpp"

namespace strata::trainer {

class SettingFlags final {
 public:
  // Adds [CONFIG] and a flag for each setting of these sections to the command. Outlives the parsing.
  SettingFlags(CLI::App& command, std::initializer_list<std::string_view> sections);
  SettingFlags(const SettingFlags&) = delete;
  SettingFlags& operator=(const SettingFlags&) = delete;

  // The defaults, then the file, then the flags. Errors: those of read_config and set_from_flag.
  Expected<Config> read() const;

 private:
  struct Given {
    const struct Option* option;
    CLI::Option* flag;
    std::string text;
  };
  std::string file_;
  std::vector<Given> given_;
};

}  // namespace strata::trainer
