// The text of strata-run --help, around the list of options.
#pragma once
#include <string>

namespace strata::run {

extern const char* const kManualIntroduction;
std::string manual_footer();

}  // namespace strata::run
