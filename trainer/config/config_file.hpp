// Settings from a TOML file, and the checks that need more than one of them.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "strata/status.hpp"
#include "trainer/config/config.hpp"

namespace strata::trainer {

// Sets what the file names. Paths in it are relative to the file. Errors: unavailable (cannot be read),
// invalid_argument naming file, line, key, value and the valid choices.
Status read_config(const std::string& path, Config& config);
Status read_config_text(std::string_view text, const std::string& path, Config& config);

// Do the settings fit together, and with so many ranks?
Status check_config(const Config& config, int ranks);

// The nearest of `choices` to a word that is none of them ("did you mean"), or empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> choices);

}  // namespace strata::trainer
