// A machine as hwloc sees it.
#pragma once
#include <string>

#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"

namespace strata::topology {

// xml_file: as `lstopo FILE.xml` writes it; empty: this machine, without the CPUs that its container denies.
// The rates of NICs and the links of GPUs are not known to hwloc. Errors: unavailable (this machine does not
// tell), invalid_argument (the file cannot be read as hwloc's XML).
Expected<Machine> hwloc_machine(const std::string& xml_file);

}  // namespace strata::topology
