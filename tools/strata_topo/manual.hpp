// The text of strata-topo --help, around the list of options.
#pragma once
#include <string>

namespace strata::topo {

extern const char* const kManualIntroduction;
std::string manual_footer();

}  // namespace strata::topo
