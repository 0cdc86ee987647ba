#include "ccl/topology/discover.hpp"

#include <algorithm>
#include <mutex>

#include "ccl/base/host.hpp"
#include "ccl/topology/hwloc_machine.hpp"
#include "ccl/topology/nvml.hpp"
#include "ccl/topology/pcie.hpp"
#include "ccl/topology/sysfs_nics.hpp"

namespace strata::topology {
namespace {

int numa_index(const Machine& machine, int number) {
  const auto found = std::find_if(machine.numa_nodes.begin(), machine.numa_nodes.end(),
                                  [&](const NumaNode& node) { return node.number == number; });
  return found == machine.numa_nodes.end() ? kNone : static_cast<int>(found - machine.numa_nodes.begin());
}

// The kernel knows names, rates and states best, hwloc the way to the CPUs.
std::vector<Nic> placed(const std::vector<SysfsNic>& nics, const Machine& machine) {
  std::vector<Nic> all;
  for (const SysfsNic& found : nics) {
    Nic nic = found.nic;
    nic.numa = numa_index(machine, found.numa_number);
    const auto known = std::find_if(machine.nics.begin(), machine.nics.end(), [&](const Nic& other) {
      return nic.address.empty() ? other.name == nic.name : other.address == nic.address;
    });
    if (known != machine.nics.end()) {
      nic.pcie_switch = known->pcie_switch;
      nic.pcie_rate = known->pcie_rate;
      if (known->numa != kNone) nic.numa = known->numa;
    }
    all.push_back(std::move(nic));
  }
  return all;
}

}  // namespace

Expected<Discovery> discover(const Sources& sources) {
  // Ranks may be threads of one process, and what hwloc asks, libudev, is not made for that.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  auto machine = hwloc_machine(sources.hwloc_xml);
  if (!machine) return machine.status();
  Discovery found;
  SysfsNics nics = read_sysfs_nics(sources.root);
  machine->nics = placed(nics.nics, *machine);
  found.notes = std::move(nics.notes);
  const NvmlGpus gpus = read_nvml(sources.nvml);
  add_nvml(gpus, *machine);
  keep_joining_switches(*machine);
  if (!gpus.note.empty() && !machine->gpus.empty()) found.notes.push_back(gpus.note);
  machine->name = sources.host_name.empty() ? this_host().name : sources.host_name;
  found.topology.hosts.push_back({machine->name, 0, 0, kNone});
  found.topology.machines.push_back(std::move(*machine));
  return found;
}

}  // namespace strata::topology
