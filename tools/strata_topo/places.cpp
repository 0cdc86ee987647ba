#include "tools/strata_topo/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ccl/topology/cpu_list.hpp"

namespace strata::topo {
namespace {

using namespace topology;

int rank_count(const Host& host, const Machine& machine) {
  if (host.slots > 0) return host.slots;
  if (!machine.gpus.empty()) return static_cast<int>(machine.gpus.size());
  return std::max(1, static_cast<int>(machine.cores.size()));
}

// The CPUs of the share-th of so many equal parts of the cores.
std::vector<int> share_of_cores(const Machine& machine, int share, int shares) {
  const int cores = static_cast<int>(machine.cores.size());
  const bool enough = cores >= shares;
  std::vector<int> cpus;
  for (int core = enough ? cores * share / shares : 0; core < (enough ? cores * (share + 1) / shares : cores);
       ++core) {
    const auto& own = machine.cores[static_cast<std::size_t>(core)].cpus;
    cpus.insert(cpus.end(), own.begin(), own.end());
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

Expected<Place> parse_place(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Place place{text.substr(0, colon), {}, kNone};
  if (colon == text.npos) return place;
  const std::string_view where = std::string_view(text).substr(colon + 1);
  if (where.starts_with("gpu")) {
    const auto [end, error] = std::from_chars(where.data() + 3, where.data() + where.size(), place.gpu);
    if (error == std::errc() && end == where.data() + where.size() && place.gpu >= 0) return place;
    return Status(ErrorCode::invalid_argument,
                  fmt::format("--place {}: '{}' is no GPU; write it as in node00:gpu2", text, where));
  }
  auto cpus = parse_cpu_list(where);
  if (!cpus)
    return Status(cpus.status().code(),
                  fmt::format("--place {}: {}, or gpu0", text, cpus.status().message()));
  place.cpus = std::move(*cpus);
  return place;
}

}  // namespace

std::vector<Place> fill_hosts(const Topology& topology, int ranks) {
  static const Machine unknown;
  std::vector<Place> places;
  for (const Host& host : topology.hosts) {
    const Machine& machine =
        host.machine == kNone ? unknown : topology.machines[static_cast<std::size_t>(host.machine)];
    const int count = ranks > 0 ? ranks : rank_count(host, machine);
    const bool gpus = count <= static_cast<int>(machine.gpus.size());
    for (int i = 0; i < count; ++i)
      places.push_back({host.name, share_of_cores(machine, i, count), gpus ? i : kNone});
  }
  return places;
}

Expected<std::vector<Place>> parse_places(std::span<const std::string> places) {
  std::vector<Place> parsed;
  for (const std::string& text : places) {
    auto place = parse_place(text);
    if (!place) return place.status();
    parsed.push_back(std::move(*place));
  }
  return parsed;
}

}  // namespace strata::topo
