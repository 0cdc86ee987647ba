#include "ccl/topology/position.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace strata::topology {
namespace {

template <class T>
const T& at(const std::vector<T>& list, int index) {
  return list[static_cast<std::size_t>(index)];
}

// What they all are; kNone: they are none, or not all the same.
int common(const std::vector<int>& values) {
  if (values.empty() || !std::all_of(values.begin(), values.end(), [&](int v) { return v == values[0]; }))
    return kNone;
  return values[0];
}

// Indices of the cores that the CPUs belong to.
std::vector<int> cores_with(const Machine& machine, std::span<const int> cpus) {
  std::vector<int> found;
  for (std::size_t i = 0; i < machine.cores.size(); ++i) {
    const auto& own = machine.cores[i].cpus;
    const bool has = std::any_of(own.begin(), own.end(),
                                 [&](int cpu) { return std::binary_search(cpus.begin(), cpus.end(), cpu); });
    if (has) found.push_back(static_cast<int>(i));
  }
  return found;
}

int common_of(const Machine& machine, const std::vector<int>& cores, int Core::*part) {
  std::vector<int> parts;
  for (const int core : cores) parts.push_back(at(machine.cores, core).*part);
  return common(parts);
}

// Both are on this switch or on switches below it; kNone: on none together.
int common_switch(const Machine& machine, int a, int b) {
  for (; a != kNone; a = at(machine.pcie_switches, a).parent)
    for (int other = b; other != kNone; other = at(machine.pcie_switches, other).parent)
      if (a == other) return a;
  return kNone;
}

}  // namespace

int package_of(const Machine& machine, int numa) {
  std::vector<int> packages;
  for (const Core& core : machine.cores)
    if (core.numa == numa) packages.push_back(core.package);
  return numa == kNone ? kNone : common(packages);
}

std::vector<int> gpu_islands(const Machine& machine) {
  const std::size_t fabric = machine.gpus.size();  // one more, which stands for the switch that they share
  std::vector<int> island(fabric + 1);
  std::iota(island.begin(), island.end(), 0);
  std::vector<bool> linked(fabric + 1);
  for (const GpuLink& link : machine.gpu_links) {
    const std::size_t a = static_cast<std::size_t>(link.a);
    const std::size_t b = link.b == kNone ? fabric : static_cast<std::size_t>(link.b);
    linked[a] = linked[b] = true;
    std::replace(island.begin(), island.end(), std::max(island[a], island[b]),
                 std::min(island[a], island[b]));
  }
  island.pop_back();
  for (std::size_t gpu = 0; gpu < fabric; ++gpu)
    if (!linked[gpu]) island[gpu] = kNone;
  return island;
}

Position position_of(const Machine& machine, const Place& place) {
  const std::vector<int> cores = cores_with(machine, place.cpus);
  int numa = common_of(machine, cores, &Core::numa);
  int package = common_of(machine, cores, &Core::package);
  if (place.gpu == kNone)
    return {common(cores), common_of(machine, cores, &Core::l3), kNone, numa, package, kNone};
  const Gpu& gpu = at(machine.gpus, place.gpu);
  if (gpu.numa != kNone) numa = gpu.numa, package = package_of(machine, gpu.numa);
  return {kNone, kNone, gpu.pcie_switch, numa, package, at(gpu_islands(machine), place.gpu)};
}

NearNics nics_near(const Machine& machine, const Place& place) {
  const auto [core, l3, pcie, numa, package, island] = position_of(machine, place);
  const auto nearness = [&, pcie = pcie, numa = numa, package = package](const Nic& nic) {
    if (common_switch(machine, pcie, nic.pcie_switch) != kNone) return Nearness::pcie_switch;
    if (nic.numa != kNone && nic.numa == numa) return Nearness::numa;
    const int theirs = package_of(machine, nic.numa);
    return theirs != kNone && theirs == package ? Nearness::package : Nearness::machine;
  };
  NearNics near;
  for (const Nic& nic : machine.nics) near.nearness = std::min(near.nearness, nearness(nic));
  for (std::size_t i = 0; i < machine.nics.size(); ++i)
    if (nearness(machine.nics[i]) == near.nearness) near.nics.push_back(static_cast<int>(i));
  return near;
}

}  // namespace strata::topology
