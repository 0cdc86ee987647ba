#include "ccl/runtime/whereabouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/set_machine.hpp"

namespace strata {
namespace {

using namespace topology;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

const Machine* machine_of(const Topology& topology, const std::string& host) {
  const auto found = std::find_if(topology.hosts.begin(), topology.hosts.end(),
                                  [&](const topology::Host& h) { return h.name == host; });
  if (found == topology.hosts.end() || found->machine == kNone) return nullptr;
  return &topology.machines[at(found->machine)];
}

// Of each host, its first rank.
std::vector<std::size_t> first_ranks(const std::vector<int>& host) {
  std::vector<std::size_t> first;
  for (std::size_t rank = 0; rank < host.size(); ++rank)
    if (host[rank] == static_cast<int>(first.size())) first.push_back(rank);
  return first;
}

// Names tell hosts apart in a topology. In a file's they are as they are; otherwise containers of one name
// get numbers.
Expected<std::vector<std::string>> names_of(std::span<const Seat> seats,
                                            const std::vector<std::size_t>& first, const TopologyFile* file) {
  std::unordered_map<std::string, std::size_t> seen;  // by name: its first rank
  std::vector<std::string> names;
  for (const std::size_t rank : first) {
    std::string name = seats[rank].host;
    const auto [known, is_new] = seen.try_emplace(name, rank);
    if (!is_new && file != nullptr)
      return Status(
          ErrorCode::mismatch,
          fmt::format("{}: rank {} and rank {} are on different hosts that are both called '{}', and "
                      "a topology file tells hosts apart by name; give each its own",
                      file->path, known->second, rank, name));
    for (int i = 2;
         !is_new && !seen.try_emplace(name = fmt::format("{} ({})", seats[rank].host, i), rank).second; ++i) {
    }
    names.push_back(std::move(name));
  }
  return names;
}

Topology topology_of(const std::vector<std::string>& names, std::span<const std::optional<Machine>> machines,
                     const TopologyFile* file) {
  Topology all = file == nullptr ? Topology{} : file->topology;
  for (std::size_t host = 0; host < names.size(); ++host) {
    if (!machines[host]) {
      if (file == nullptr) all.hosts.push_back({names[host], kNone, 0, kNone});
      continue;
    }
    Machine machine = *machines[host];
    machine.name = names[host];
    const Machine* stated = machine_of(all, names[host]);
    if (stated != nullptr && !stated->nics.empty()) machine.nics = stated->nics;
    set_machine(names[host], std::move(machine), all);
  }
  return all;
}

}  // namespace

std::vector<int> number_hosts(std::span<const Seat> seats) {
  std::unordered_map<std::string_view, int> seen;
  std::vector<int> host;
  for (const Seat& seat : seats)
    host.push_back(seen.try_emplace(seat.host_id, static_cast<int>(seen.size())).first->second);
  return host;
}

bool is_open(const TopologyFile* file, const std::string& host) {
  if (file == nullptr) return true;
  const Machine* machine = machine_of(file->topology, host);
  return machine == nullptr || (machine->cores.empty() && machine->gpus.empty());
}

Expected<Whereabouts> whereabouts(std::span<const Seat> seats,
                                  std::span<const std::optional<Machine>> machines, const TopologyFile* file,
                                  const std::string& levels) {
  Whereabouts all;
  all.host = number_hosts(seats);
  const auto names = names_of(seats, first_ranks(all.host), file);
  if (!names) return names.status();
  all.topology = topology_of(*names, machines, file);
  if (file != nullptr) {
    all.stated = file->topology;
    std::vector<std::string> of_ranks;
    for (const int host : all.host) of_ranks.push_back((*names)[at(host)]);
    if (Status s = check_ranks(*file, of_ranks); !s.ok()) return s;
  }
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    const std::string& host = (*names)[at(all.host[rank])];
    const Machine* machine = machine_of(all.topology, host);
    const int gpus = machine == nullptr ? 0 : static_cast<int>(machine->gpus.size());
    auto cpus = parse_cpu_list(seats[rank].cpus);  // without end, if the system does not say
    all.places.push_back({host, cpus ? *std::move(cpus) : std::vector<int>(),
                          seats[rank].gpu < gpus ? seats[rank].gpu : kNone});
  }
  auto natural = hierarchy(all.places, all.topology);
  if (!natural) return natural.status();
  all.natural = *std::move(natural);
  auto used = levels.empty() ? Expected(all.natural) : hierarchy_by_hand(levels, all.places, all.topology);
  if (!used) return used.status();
  all.levels = *std::move(used);
  return all;
}

}  // namespace strata
