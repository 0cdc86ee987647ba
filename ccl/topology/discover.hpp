// What can be learned about the host that this process runs on.
#pragma once
#include <string>
#include <vector>

#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"

namespace strata::topology {

// Where it is looked for. The defaults are this host; tests give others.
struct Sources {
  std::string root = "/";                  // the folder that has "sys", for NICs
  std::string hwloc_xml;                   // a file; empty: this machine
  std::string nvml = "libnvidia-ml.so.1";  // NVIDIA's management library
  std::string host_name;                   // empty: this host's
};

struct Discovery {
  Topology topology;               // one host and its machine, which has the host's name
  std::vector<std::string> notes;  // what is not known, and why; for people
};

// Takes some milliseconds. Errors: those of hwloc_machine(); what else is missing gives a note.
Expected<Discovery> discover(const Sources& sources = {});

}  // namespace strata::topology
