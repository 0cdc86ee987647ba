// PCIe addresses, and which switches are worth knowing.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ccl/topology/topology.hpp"

namespace strata::topology {

// "0000:07:00.0" for that address however it is written: with a domain of any length or without, in capitals.
// nullopt: it is none.
std::optional<std::string> pcie_address(std::string_view text);

// What a link carries in one direction, without what its coding takes. gigatransfers: a second, of each lane.
BitsPerSecond pcie_rate(double gigatransfers, int lanes);

// Leaves out the switches and ports that join nothing: those with fewer than two devices or switches. Devices
// move to the next one up.
void keep_joining_switches(Machine& machine);

}  // namespace strata::topology
