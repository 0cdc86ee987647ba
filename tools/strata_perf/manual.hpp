// The parts of --help that are not a list of options.
#pragma once
#include <string>

namespace strata::perf {

extern const char* const kManualIntroduction;
std::string manual_footer();
// Follows the message that says which variable of the job's is missing or wrong.
extern const char* const kHowToLaunch;

}  // namespace strata::perf
