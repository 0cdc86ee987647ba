// Descriptions of machines that other programs write.
#pragma once
#include <string>

#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"

namespace strata::topology {

// Reads XML of NCCL or of hwloc, whichever the file has. The topology has one host of one machine, both with
// the file's name without its ending. Errors: unavailable (cannot be read), invalid_argument that names file,
// line and cure.
Expected<Topology> import_xml(const std::string& path);

}  // namespace strata::topology
