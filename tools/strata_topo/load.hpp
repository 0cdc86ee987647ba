// Where strata-topo gets its topology.
#pragma once
#include <string>
#include <vector>

#include "ccl/topology/discover.hpp"

namespace strata::topo {

// path: a topology file, or XML of NCCL or hwloc; empty: this host. Errors: those of the readers.
Expected<topology::Discovery> load(const std::string& path);

// The same of XML only.
Expected<topology::Discovery> load_xml(const std::string& path);

}  // namespace strata::topo
