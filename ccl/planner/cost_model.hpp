// What a cost model knows: the price of messages, bytes and steps, and who sits where.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ccl/topology/hierarchy.hpp"
#include "strata/types.hpp"

namespace strata {

// Times and rates are whole numbers, so that all ranks get the same sums whatever their compiler does with
// floating point. A picosecond is fine enough for what a byte costs in 1024 of them.
using Picoseconds = std::int64_t;
inline constexpr Picoseconds kPicosecondsPerMicrosecond = 1'000'000;

enum class LinkKind : std::uint8_t {
  memory,     // ranks that are threads and copy from each other: tests
  shm,        // rings in memory that the processes of a host share
  tcp_local,  // TCP within a host
  tcp,        // TCP between hosts
};
inline constexpr int kLinkKinds = 4;
std::string_view to_string(LinkKind kind);

// The LogGP of a message: its CPU time at both ends and its time on the wire overlap but for the first and
// the last grain.
struct LinkCost {
  Picoseconds send_ps = 0, recv_ps = 0;                  // CPU, a message
  Picoseconds latency_ps = 0;                            // from one end to the other
  Picoseconds send_ps_per_kib = 0, recv_ps_per_kib = 0;  // CPU, 1024 bytes
  Picoseconds wire_ps_per_kib = 0;  // between hosts: of the NIC at either end; else of the pair's link
  Picoseconds turn_ps = 0;          // until a waiting receiver has a core, where ranks outnumber cores
  std::uint64_t eager_bytes = 0;    // longer messages start when their receive has been announced
  std::uint64_t grain_bytes = 0;    // so much is passed on before the next end can start with it
  friend bool operator==(const LinkCost&, const LinkCost&) = default;
};

struct LocalCost {
  Picoseconds step_ps = 0;            // of any step, whatever it does
  Picoseconds copy_ps_per_kib = 0;    // 1024 bytes read and written
  Picoseconds reduce_ps_per_kib = 0;  // 1024 bytes of one source added to the target
  // What CPU work takes where ranks outnumber cores, beyond having to wait for one: those that wait poll, and
  // caches are shared.
  std::int64_t crowded_percent = 100;
  friend bool operator==(const LocalCost&, const LocalCost&) = default;
};

struct Costs {
  std::array<LinkCost, kLinkKinds> links;  // by LinkKind
  LocalCost local;
  LinkCost& of(LinkKind kind) { return links[static_cast<std::size_t>(kind)]; }
  const LinkCost& of(LinkKind kind) const { return links[static_cast<std::size_t>(kind)]; }
  friend bool operator==(const Costs&, const Costs&) = default;
};

// What holds where nothing was measured.
Costs default_costs();

struct Placement {
  std::vector<int> host;               // of each rank: an index into cores
  std::vector<int> cores;              // of each host: how many its ranks may use, all together
  LinkKind within = LinkKind::memory;  // how ranks of one host reach each other
  friend bool operator==(const Placement&, const Placement&) = default;
};
// All on one host, a core for each.
Placement one_host(int size, LinkKind within);

// Its levels: hosts, where there are several and one has more than one rank; null: none are.
std::shared_ptr<const topology::Hierarchy> levels_of(const Placement& placement);

struct CostModel {
  Costs costs;
  Placement placement;
  std::shared_ptr<const topology::Hierarchy> levels = levels_of(placement);

  int size() const { return static_cast<int>(placement.host.size()); }
  int host_of(Rank rank) const { return placement.host[static_cast<std::size_t>(rank)]; }
  LinkKind kind(Rank a, Rank b) const { return host_of(a) == host_of(b) ? placement.within : LinkKind::tcp; }
  const LinkCost& link(Rank a, Rank b) const { return costs.of(kind(a, b)); }
  // The same for some of its ranks, which become 0, 1, ... in this order. Their hosts keep their cores.
  CostModel of_members(std::span<const Rank> ranks) const;
};

// bytes at a rate, rounded down; no time at all for no rate. bytes above 2^43 count as so many.
Picoseconds time_of(std::uint64_t bytes, Picoseconds ps_per_kib);

}  // namespace strata
