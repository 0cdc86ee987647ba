// Topologies as TOML: what a user writes of a cluster, and what is written down of a discovered one.
#pragma once
#include <string>
#include <string_view>

#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"

namespace strata::topology {

// A commented example of the format, which can be read.
extern const char* const kTopologyFileExample;

// Errors: unavailable (cannot be read); invalid_argument that names file, line, value and cure: unknown keys
// and names (with the nearest known one), wrong types, rates of zero, names given twice, groups in
// themselves, indices of nothing.
Expected<Topology> read_topology(const std::string& path);
Expected<Topology> parse_topology(std::string_view text, const std::string& path);

// Read again it is the same topology, if that has a host and its names are given once.
std::string format_topology(const Topology& topology);

}  // namespace strata::topology
