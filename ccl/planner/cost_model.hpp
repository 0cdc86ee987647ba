// What a cost model knows: the price of messages, bytes and steps, and who sits where.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

// What ranks pay by where they sit: a link costs what the innermost level that has both its ends says.
struct LinkLevels {
  struct Level {
    std::string name;
    LinkKind kind = LinkKind::memory;
    LinkCost cost;
    bool measured = false;
    std::vector<int> group;  // of each rank, a number for its group
    friend bool operator==(const Level&, const Level&) = default;
  };
  std::vector<Level> levels;  // from the inside out; the last has all ranks in one group

  const Level& between(Rank a, Rank b) const {
    for (const Level& level : levels)
      if (level.group[static_cast<std::size_t>(a)] == level.group[static_cast<std::size_t>(b)]) return level;
    return levels.back();
  }
  LinkLevels of_members(std::span<const Rank> ranks) const;
  friend bool operator==(const LinkLevels&, const LinkLevels&) = default;
};

// What some hosts, a rack, share on their way to the others.
struct Uplink {
  Picoseconds ps_per_kib = 0;  // each way
  std::vector<bool> hosts;     // of each host of the placement: does it share it
  friend bool operator==(const Uplink&, const Uplink&) = default;
};

struct Placement {
  std::vector<int> host;               // of each rank: an index into cores
  std::vector<int> cores;              // of each host: how many its ranks may use, all together
  LinkKind within = LinkKind::memory;  // how ranks of one host reach each other
  // What hosts share of the network; empty: each NIC is as busy as the message's link.
  std::vector<Picoseconds> nic_ps_per_kib = {};  // of each host, each way
  std::vector<Uplink> uplinks = {};
  friend bool operator==(const Placement&, const Placement&) = default;
};
// All on one host, a core for each.
Placement one_host(int size, LinkKind within);

// Its levels: hosts, where there are several and one has more than one rank; null: none are.
std::shared_ptr<const topology::Hierarchy> levels_of(const Placement& placement);

struct CostModel {
  Costs costs;
  Placement placement;
  // That hierarchical algorithms work on; null: there are none.
  std::shared_ptr<const topology::Hierarchy> levels = levels_of(placement);
  std::shared_ptr<const LinkLevels> links = nullptr;  // null: links are as `costs` has them by kind

  int size() const { return static_cast<int>(placement.host.size()); }
  int host_of(Rank rank) const { return placement.host[static_cast<std::size_t>(rank)]; }
  LinkKind kind(Rank a, Rank b) const { return host_of(a) == host_of(b) ? placement.within : LinkKind::tcp; }
  const LinkCost& link(Rank a, Rank b) const {
    return links == nullptr ? costs.of(kind(a, b)) : links->between(a, b).cost;
  }
  // The same for some of its ranks, which become 0, 1, ... in this order. Their hosts keep their cores.
  CostModel of_members(std::span<const Rank> ranks) const;
};

// What 1024 bytes take at this rate; 0: not known.
Picoseconds ps_per_kib_at(topology::BitsPerSecond rate);
topology::BitsPerSecond rate_at(Picoseconds ps_per_kib);  // and back; 0: none

// bytes at a rate, rounded down; no time at all for no rate. bytes above 2^43 count as so many.
Picoseconds time_of(std::uint64_t bytes, Picoseconds ps_per_kib);

}  // namespace strata
