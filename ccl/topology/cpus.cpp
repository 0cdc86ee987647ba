#include "ccl/topology/cpus.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

namespace strata {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

struct FreeTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};

// Only the binding is asked for, so the hardware need not be looked at.
std::unique_ptr<hwloc_topology, FreeTopology> bare_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  std::unique_ptr<hwloc_topology, FreeTopology> owned(topology);
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  return hwloc_topology_load(topology) == 0 ? std::move(owned) : nullptr;
}

std::string read_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string allowed_cpus() {
  const auto topology = bare_topology();
  const Bitmap set(hwloc_bitmap_alloc());
  if (!topology || !set || hwloc_get_cpubind(topology.get(), set.get(), HWLOC_CPUBIND_PROCESS) != 0)
    return {};
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set.get()) < 0) return {};
  const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
  return text;
}

int cores_of(std::span<const std::string> sets) {
  const Bitmap all(hwloc_bitmap_alloc()), one(hwloc_bitmap_alloc());
  int unknown = 0;
  for (const std::string& set : sets) {
    const bool known = !set.empty() && hwloc_bitmap_list_sscanf(one.get(), set.c_str()) == 0 &&
                       hwloc_bitmap_weight(one.get()) > 0;  // -1: without end
    if (known)
      hwloc_bitmap_or(all.get(), all.get(), one.get());
    else
      unknown = 1;
  }
  const int cores = std::max(hwloc_bitmap_weight(all.get()), unknown);
  const int quota = quota_cores(read_quota());
  return std::max(1, quota > 0 ? std::min(cores, quota) : cores);
}

int quota_cores(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  long quota = 0, period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

}  // namespace strata
