// A machine as text, for ranks on other hosts.
#pragma once
#include <string>
#include <string_view>

#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"

namespace strata::topology {

inline constexpr std::size_t kMachineBytesMax = 256 << 10;

// As a topology file, without what differs between machines that are alike: names, and how much memory the
// system has left for itself. Equal texts, equal machines. Error: unavailable, longer than kMachineBytesMax.
Expected<std::string> machine_text(const Machine& machine);

// Any text may be given. Its name is that of the text. Error: mismatch that says what is wrong with it.
Expected<Machine> parse_machine_text(std::string_view text);

}  // namespace strata::topology
