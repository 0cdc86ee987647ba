// The network cards that the kernel shows in /sys.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "ccl/topology/topology.hpp"

namespace strata::topology {

struct SysfsNic {
  Nic nic;                  // where it is near is not filled in
  int numa_number = kNone;  // the system's
  friend bool operator==(const SysfsNic&, const SysfsNic&) = default;
};

struct SysfsNics {
  std::vector<SysfsNic> nics;      // by name
  std::vector<std::string> notes;  // what was left out or is not known, and why
};

// root: where "sys" is. All that have a device and are up; where none has one, as in a container, the
// interfaces. What cannot be read counts as not there.
SysfsNics read_sysfs_nics(const std::filesystem::path& root);

}  // namespace strata::topology
