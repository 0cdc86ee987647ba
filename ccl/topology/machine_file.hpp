// The [[machine]] tables of a topology file.
#pragma once
#include <span>
#include <string>

#include "ccl/topology/toml_fields.hpp"
#include "ccl/topology/topology.hpp"

namespace strata::topology {

// Mistakes go to the file.
Machine read_machine(Toml& file, const toml::table& table, std::span<const std::string> rails);

}  // namespace strata::topology
