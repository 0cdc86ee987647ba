// Machines as NCCL writes them (NCCL_TOPO_DUMP_FILE) and as clouds describe theirs to it (NCCL_TOPO_FILE).
#pragma once
#include <string>
#include <string_view>

#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"

namespace strata::topology {

// The format has NUMA nodes with their CPUs, but neither packages nor caches: each CPU becomes a core. A CPU
// that several nodes claim, as in files for virtual machines, is in none. Elements and attributes that are
// not needed may be anything. path: for messages. Error: invalid_argument that names path, line, value and
// cure.
Expected<Machine> parse_nccl_xml(std::string_view text, const std::string& path);

}  // namespace strata::topology
