#include "ccl/topology/set_machine.hpp"

#include <algorithm>
#include <utility>

namespace strata::topology {
namespace {

template <class Named>
auto find(std::vector<Named>& items, const std::string& name) {
  return std::find_if(items.begin(), items.end(), [&](const Named& item) { return item.name == name; });
}

// Rails are stated, not discovered.
void keep_rails(const Machine& before, Machine& machine) {
  for (Nic& nic : machine.nics)
    for (const Nic& known : before.nics)
      if (known.name == nic.name && nic.rail == kNone) nic.rail = known.rail;
}

// Index of the machine, or of one like it; its name is made one of its own if need be.
int add_machine(Machine machine, Topology& topology) {
  for (std::size_t i = 0; i < topology.machines.size(); ++i) {
    const std::string name = std::exchange(machine.name, topology.machines[i].name);
    if (machine == topology.machines[i]) return static_cast<int>(i);
    machine.name = name;
  }
  const std::string name = machine.name;
  for (int i = 2; find(topology.machines, machine.name) != topology.machines.end(); ++i)
    machine.name = name + "-" + std::to_string(i);
  topology.machines.push_back(std::move(machine));
  return static_cast<int>(topology.machines.size()) - 1;
}

}  // namespace

void set_machine(const std::string& host, Machine machine, Topology& topology) {
  auto known = find(topology.hosts, host);
  if (known == topology.hosts.end()) known = topology.hosts.insert(known, Host{host, kNone, 0, kNone});
  if (known->machine != kNone)
    keep_rails(topology.machines[static_cast<std::size_t>(known->machine)], machine);
  known->machine = add_machine(std::move(machine), topology);
}

}  // namespace strata::topology
