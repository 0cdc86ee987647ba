#include "tests/topology/examples.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::topology::test {
namespace {

int below(std::mt19937& random, int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); }
int below_or_none(std::mt19937& random, int end) { return below(random, end + 1) - 1; }

Machine random_machine(std::mt19937& random, int number) {
  Machine machine = even_machine(1 + below(random, 2), 1 + below(random, 2), 1 + below(random, 3),
                                 1 + below(random, 3), 1 + below(random, 2));
  machine.name = fmt::format("m{}", number);
  if (below(random, 4) == 0)  // a firmware that nests in no sensible way
    for (Core& core : machine.cores) core.l3 = below_or_none(random, static_cast<int>(machine.l3s.size()));
  const int numa_nodes = static_cast<int>(machine.numa_nodes.size());
  const int switches = below(random, 4);
  for (int i = 0; i < switches; ++i)
    machine.pcie_switches.push_back(
        {fmt::format("0000:{:02x}:00.0", i), below_or_none(random, numa_nodes), below_or_none(random, i)});
  const int gpus = below(random, 3) == 0 ? 0 : below(random, 9);
  for (int i = 0; i < gpus; ++i)
    machine.gpus.push_back({fmt::format("0000:{:02x}:00.0", 64 + i), "", below_or_none(random, numa_nodes),
                            below_or_none(random, switches)});
  for (int i = 0; i + 1 < gpus; ++i)
    if (below(random, 2) == 0) machine.gpu_links.push_back({i, i + 1, 200'000'000'000});
  for (int i = below(random, 4); i > 0; --i)
    machine.nics.push_back({fmt::format("eth{}", i), "", "", 1'000'000'000u * static_cast<unsigned>(i),
                            below_or_none(random, numa_nodes), below_or_none(random, switches), kNone});
  return machine;
}

Place random_place(std::mt19937& random, const Topology& topology) {
  const Host& host =
      topology.hosts[static_cast<std::size_t>(below(random, static_cast<int>(topology.hosts.size())))];
  Place place{host.name, {}, kNone};
  if (host.machine == kNone) return place;
  const Machine& machine = topology.machines[static_cast<std::size_t>(host.machine)];
  place.gpu = below(random, 2) == 0 ? below_or_none(random, static_cast<int>(machine.gpus.size())) : kNone;
  const int first = below(random, static_cast<int>(machine.cores.size()));
  const int last = std::min(first + below(random, 3), static_cast<int>(machine.cores.size()) - 1);
  for (int core = first; core <= last; ++core)
    for (const int cpu : machine.cores[static_cast<std::size_t>(core)].cpus) place.cpus.push_back(cpu);
  std::sort(place.cpus.begin(), place.cpus.end());
  return place;
}

}  // namespace

Machine even_machine(int packages, int numa_nodes, int l3s, int cores, int threads) {
  Machine machine;
  machine.name = "even";
  machine.packages.resize(static_cast<std::size_t>(packages));
  machine.numa_nodes.resize(static_cast<std::size_t>(packages * numa_nodes));
  machine.l3s.resize(static_cast<std::size_t>(packages * numa_nodes * l3s));
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i)
    machine.numa_nodes[i] = {static_cast<int>(i), std::uint64_t{1} << 30};
  const int all = packages * numa_nodes * l3s * cores;
  for (int i = 0; i < all; ++i) {
    Core core{i / (numa_nodes * l3s * cores), i / (l3s * cores), i / cores, {i}};
    if (threads == 2) core.cpus.push_back(i + all);
    machine.cores.push_back(core);
  }
  return machine;
}

Machine gpu_machine(std::vector<GpuLink> links) {
  Machine machine = even_machine(2, 1, 1, 4);
  machine.name = "gpus";
  machine.pcie_switches = {{"0000:10:00.0", 0, kNone}, {"0000:80:00.0", 1, kNone}};
  for (int i = 0; i < 8; ++i)
    machine.gpus.push_back({fmt::format("0000:{:02x}:00.0", 0x20 + i), "", i / 4, i / 4});
  machine.nics = {{"mlx5_0", "mlx5_0", "0000:30:00.0", 100'000'000'000, 0, 0, 0},
                  {"mlx5_1", "mlx5_1", "0000:90:00.0", 100'000'000'000, 1, 1, 1},
                  {"eth0", "", "0000:a0:00.0", 1'000'000'000, 0, kNone, kNone}};
  machine.gpu_links = std::move(links);
  return machine;
}

Topology hosts_of(Machine machine, int count) {
  Topology topology;
  topology.rails = {{"rail0", 1}, {"rail1", 1}};
  topology.machines.push_back(std::move(machine));
  for (int i = 0; i < count; ++i) topology.hosts.push_back({fmt::format("h{}", i), 0, 0, kNone});
  return topology;
}

std::vector<Place> one_rank_a_core(const Topology& topology) {
  std::vector<Place> places;
  for (const Host& host : topology.hosts)
    for (const Core& core : topology.machines[static_cast<std::size_t>(host.machine)].cores)
      places.push_back({host.name, core.cpus, kNone});
  return places;
}

RandomCase random_case(std::mt19937& random) {
  RandomCase made;
  Topology& topology = made.topology;
  topology.levels = {"rack", "row"};
  for (int i = below(random, 4); i > 0; --i)
    topology.groups.push_back({fmt::format("row{}", i), 1, kNone, 1.0 + below(random, 3)});
  const int rows = static_cast<int>(topology.groups.size());
  for (int i = below(random, 4); i > 0; --i)
    topology.groups.push_back({fmt::format("rack{}", i), 0, below_or_none(random, rows), 1.5});
  const int groups = static_cast<int>(topology.groups.size());
  const int machines = 1 + below(random, 3);
  for (int i = 0; i < machines; ++i) topology.machines.push_back(random_machine(random, i));
  for (int i = below(random, 6); i >= 0; --i)
    topology.hosts.push_back(
        {fmt::format("h{}", i), below_or_none(random, machines), 0, below_or_none(random, groups)});
  for (int i = below(random, 17); i > 0; --i) made.places.push_back(random_place(random, topology));
  return made;
}

}  // namespace strata::topology::test
