// Topologies as TOML: what a user writes of a cluster, and what is written down of a discovered one.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// A topology and where its file states it.
struct TopologyFile {
  std::string path;
  Topology topology;
  std::vector<int> host_lines;  // of each host
};
Expected<TopologyFile> parse_topology_file(std::string_view text, const std::string& path);

// Whether a job may have its ranks there: the file has their hosts, and no more of them on one than its
// slots. hosts: of each rank. Error: invalid_argument that names file, line, value and cure.
Status check_ranks(const TopologyFile& file, std::span<const std::string> hosts);

// Read again it is the same topology, if that has a host and its names are given once.
std::string format_topology(const Topology& topology);

}  // namespace strata::topology
