// The built-in costs, and models of parts of a job.
#include "ccl/planner/cost_model.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "ccl/base/check.hpp"
#include "ccl/transport/stream/frame.hpp"

namespace strata {
namespace {

constexpr Picoseconds kNs = 1000;
constexpr std::uint64_t kBytesMax = 1ull << 43;
constexpr std::uint64_t kBitPicosecondsPerKib = 8192ull * 1'000'000'000'000;
// Pipes are written and read in parts of about this size.
constexpr std::uint64_t kGrainBytes = 32 << 10;

// Of what goes through a stream: see sender and receiver there.
LinkCost streamed(LinkCost cost) {
  cost.eager_bytes = stream::kEagerBytesMax;
  cost.grain_bytes = kGrainBytes;
  return cost;
}

}  // namespace

std::string_view to_string(LinkKind kind) {
  constexpr std::string_view kNames[kLinkKinds] = {"memory", "shm", "tcp_local", "tcp"};
  return kNames[static_cast<std::size_t>(kind)];
}

// shm, tcp_local and local: fitted to what each algorithm took on two cores of an AMD EPYC (Zen 5),
// 2026-11-30, with 2 and with 4 ranks, from 8 bytes to 4 MiB:
//   strata-perf all_reduce --sampled 0.03 --untouched --transport TRANSPORT --algorithm ALGORITHM
Costs default_costs() {
  Costs costs;
  // Matched and copied by the receiver's hand.
  costs.of(LinkKind::memory) = {.send_ps = 100 * kNs,
                                .recv_ps = 100 * kNs,
                                .latency_ps = 200 * kNs,
                                .send_ps_per_kib = 0,
                                .recv_ps_per_kib = 60 * kNs,
                                .wire_ps_per_kib = 0,
                                .turn_ps = 1200 * kNs,
                                .eager_bytes = ~0ull,
                                .grain_bytes = 0};
  costs.of(LinkKind::shm) = streamed({.send_ps = 250 * kNs,
                                      .recv_ps = 200 * kNs,
                                      .latency_ps = 200 * kNs,
                                      .send_ps_per_kib = 18 * kNs,
                                      .recv_ps_per_kib = 18 * kNs,
                                      .turn_ps = 1000 * kNs});
  costs.of(LinkKind::tcp_local) = streamed({.send_ps = 2400 * kNs,
                                            .recv_ps = 1000 * kNs,
                                            .latency_ps = 2600 * kNs,
                                            .send_ps_per_kib = 70 * kNs,
                                            .recv_ps_per_kib = 75 * kNs,
                                            .turn_ps = 3500 * kNs});
  // Not measured: 10 Gb/s Ethernet as it is usually found.
  costs.of(LinkKind::tcp) = streamed({.send_ps = 2400 * kNs,
                                      .recv_ps = 1500 * kNs,
                                      .latency_ps = 15'000 * kNs,
                                      .send_ps_per_kib = 100 * kNs,
                                      .recv_ps_per_kib = 150 * kNs,
                                      .wire_ps_per_kib = 870 * kNs,
                                      .turn_ps = 3500 * kNs});
  costs.local = {.step_ps = 15 * kNs,
                 .copy_ps_per_kib = 15 * kNs,
                 .reduce_ps_per_kib = 10 * kNs,
                 .crowded_percent = 160};
  return costs;
}

Placement one_host(int size, LinkKind within) {
  return {.host = std::vector<int>(static_cast<std::size_t>(size), 0), .cores = {size}, .within = within};
}

std::shared_ptr<const topology::Hierarchy> levels_of(const Placement& placement) {
  topology::Topology hosts;
  hosts.machines.emplace_back();
  for (std::size_t i = 0; i < placement.cores.size(); ++i)
    hosts.hosts.push_back({std::to_string(i), 0, 0, topology::kNone});
  std::vector<topology::Place> places;
  for (const int host : placement.host) places.push_back({std::to_string(host), {}, topology::kNone});
  auto levels = topology::hierarchy(places, hosts);
  STRATA_CHECK(levels.ok(), levels.status().message());
  if (!topology::has_structure(*levels)) return nullptr;
  return std::make_shared<const topology::Hierarchy>(std::move(*levels));
}

LinkLevels LinkLevels::of_members(std::span<const Rank> ranks) const {
  LinkLevels part = *this;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    part.levels[i].group.clear();
    for (const Rank rank : ranks)
      part.levels[i].group.push_back(levels[i].group[static_cast<std::size_t>(rank)]);
  }
  return part;
}

CostModel CostModel::of_members(std::span<const Rank> ranks) const {
  CostModel part{costs, placement, nullptr, nullptr};
  part.placement.host.clear();
  for (const Rank rank : ranks) part.placement.host.push_back(host_of(rank));
  if (levels != nullptr)
    if (auto own = topology::among(*levels, ranks); topology::has_structure(own))
      part.levels = std::make_shared<const topology::Hierarchy>(std::move(own));
  if (links != nullptr) part.links = std::make_shared<const LinkLevels>(links->of_members(ranks));
  return part;
}

Picoseconds ps_per_kib_at(topology::BitsPerSecond rate) {
  return rate == 0 ? 0 : static_cast<Picoseconds>(kBitPicosecondsPerKib / rate);
}

topology::BitsPerSecond rate_at(Picoseconds ps_per_kib) {
  return ps_per_kib <= 0 ? 0 : kBitPicosecondsPerKib / static_cast<topology::BitsPerSecond>(ps_per_kib);
}

Picoseconds time_of(std::uint64_t bytes, Picoseconds ps_per_kib) {
  const auto n = static_cast<Picoseconds>(std::min(bytes, kBytesMax));
  return n / 1024 * ps_per_kib + n % 1024 * ps_per_kib / 1024;
}

}  // namespace strata
