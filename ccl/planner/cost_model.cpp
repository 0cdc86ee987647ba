// The built-in costs, and models of parts of a job.
#include "ccl/planner/cost_model.hpp"

#include <algorithm>
#include <numeric>

#include "ccl/transport/stream/frame.hpp"

namespace strata {
namespace {

constexpr Picoseconds kNs = 1000;
constexpr std::uint64_t kBytesMax = 1ull << 43;
// Pipes are written and read in parts of about this size.
constexpr std::uint64_t kGrainBytes = 32 << 10;

LinkCost streamed(Picoseconds send_ps, Picoseconds recv_ps, Picoseconds latency_ps,
                  Picoseconds cpu_ps_per_kib, Picoseconds wire_ps_per_kib) {
  return {.send_ps = send_ps,
          .recv_ps = recv_ps,
          .latency_ps = latency_ps,
          .send_ps_per_kib = cpu_ps_per_kib,
          .recv_ps_per_kib = cpu_ps_per_kib,
          .wire_ps_per_kib = wire_ps_per_kib,
          .eager_bytes = stream::kEagerBytesMax,
          .grain_bytes = kGrainBytes};
}

}  // namespace

std::string_view to_string(LinkKind kind) {
  constexpr std::string_view kNames[kLinkKinds] = {"memory", "shm", "tcp_local", "tcp"};
  return kNames[static_cast<std::size_t>(kind)];
}

Costs default_costs() {
  Costs costs;
  costs.of(LinkKind::memory) = {.send_ps = 100 * kNs,
                                .recv_ps = 100 * kNs,
                                .latency_ps = 200 * kNs,
                                .send_ps_per_kib = 0,
                                .recv_ps_per_kib = 60 * kNs,
                                .wire_ps_per_kib = 0,
                                .eager_bytes = ~0ull,
                                .grain_bytes = 0};
  costs.of(LinkKind::shm) = streamed(200 * kNs, 200 * kNs, 200 * kNs, 60 * kNs, 0);
  costs.of(LinkKind::tcp_local) = streamed(2500 * kNs, 1500 * kNs, 1500 * kNs, 180 * kNs, 0);
  // 10 Gb/s Ethernet.
  costs.of(LinkKind::tcp) = streamed(2500 * kNs, 2500 * kNs, 15'000 * kNs, 180 * kNs, 870 * kNs);
  costs.local = {
      .step_ps = 15 * kNs, .copy_ps_per_kib = 40 * kNs, .reduce_ps_per_kib = 50 * kNs, .turn_ps = 1500 * kNs};
  return costs;
}

Placement one_host(int size, LinkKind within) {
  return {.host = std::vector<int>(static_cast<std::size_t>(size), 0), .cores = {size}, .within = within};
}

CostModel CostModel::of_members(std::span<const Rank> ranks) const {
  CostModel part{costs, placement};
  part.placement.host.clear();
  for (const Rank rank : ranks) part.placement.host.push_back(host_of(rank));
  return part;
}

Picoseconds time_of(std::uint64_t bytes, Picoseconds ps_per_kib) {
  const auto n = static_cast<Picoseconds>(std::min(bytes, kBytesMax));
  return n / 1024 * ps_per_kib + n % 1024 * ps_per_kib / 1024;
}

}  // namespace strata
