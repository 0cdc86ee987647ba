// From where ranks sit to the levels of groups that hierarchical algorithms work on.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata::topology {

// Where a rank sits.
struct Place {
  std::string host;
  std::vector<int> cpus;  // it may run on, ascending; empty: not known
  int gpu = kNone;        // index into the GPUs of its host's machine
  friend bool operator==(const Place&, const Place&) = default;
};

// A partition of all ranks.
struct Level {
  std::string name;
  std::vector<std::vector<Rank>> groups;  // each ascending; in the order of their first ranks
  // Of each group of the level before (the first level: of each rank), in that order: what it exchanges with
  // others at this level, each way. Empty: not known, all alike, or a level within hosts.
  std::vector<BitsPerSecond> rates = {};
  friend bool operator==(const Level&, const Level&) = default;
};

// From the inside out. Each level's groups are unions of the one's before, and are fewer. The first has a
// group of more than one rank, the last is one group of all. Of one rank, or none: no levels.
struct Hierarchy {
  int size = 0;  // ranks
  std::vector<Level> levels;
  friend bool operator==(const Hierarchy&, const Hierarchy&) = default;
};

// What the levels within a host are called, and what the one of all ranks is.
inline constexpr std::string_view kHostLevels[] = {"core",    "l3",         "pcie", "numa",
                                                   "package", "gpu_island", "host"};
inline constexpr std::string_view kWholeLevel = "cluster";

// Pure. Ranks with a GPU are where it is, others where their CPUs are. CPUs that span several caches or
// nodes, or that the machine does not have, are in none of them. Ranks of a host that are in none of a
// level's groups stay together; a host that is in none is one by itself. A level that would group ranks as
// another does is left out: the inner one's name stays. Rates are what the topology states of NICs, less what
// the groups of hosts on the way are oversubscribed by. Errors: invalid_argument that names the rank and what
// is wrong with its place.
Expected<Hierarchy> hierarchy(std::span<const Place> places, const Topology& topology);

// The same with levels named by the user, in one of three ways:
//   "2x4"              2 groups of 4 ranks each, in order of rank; any number of factors
//   "numa,host,rack"   these of the levels above, and no others but the one of all ranks
//   "0-3,4-7;0-7"      the groups themselves, levels from the inside out; "0+2,1+3" where they are no ranges
// Errors: invalid_argument that names the part that is wrong and the cure.
Expected<Hierarchy> hierarchy_by_hand(std::string_view levels, std::span<const Place> places,
                                      const Topology& topology);

// Whether it tells algorithms anything: there is a level between a rank and all of them, or links differ.
bool has_structure(const Hierarchy& hierarchy);

// The same for some of the ranks, which become 0, 1, ... in this order. Levels that add nothing among them
// are left out.
Hierarchy among(const Hierarchy& hierarchy, std::span<const Rank> ranks);

// Index of the innermost level that has both ranks in one group; a and b differ and are below the size.
std::size_t common_level(const Hierarchy& hierarchy, Rank a, Rank b);

// What was measured between ranks of this level over this medium; nullptr: nothing was.
const PairCost* cost_of(const Topology& topology, std::string_view level, std::string_view medium);

}  // namespace strata::topology
