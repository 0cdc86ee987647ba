// Partitions of ranks, and how they become levels that are nested.
#pragma once
#include <string>
#include <vector>

#include "ccl/topology/hierarchy.hpp"

namespace strata::topology {

// Of each rank, a number that stands for its group; kNone: it is in none.
using Partition = std::vector<int>;

struct NamedPartition {
  std::string name;
  Partition groups;
};

// Of each rank, the index of its group.
Partition partition_of(const Level& level, int size);

int group_count(const Partition& partition);  // ranks in none are not counted

// Ranks stay together where they are so in both; who is in none in a is in none.
Partition meet(const Partition& a, const Partition& b);

// From the inside out; the last must be one group of all. Ranks in none of a level's groups stay as the level
// before has them. Each level is cut by those after it, so that they are nested. What has groups of one rank
// only, or is the same as the one before, is left out.
Hierarchy nest(std::vector<NamedPartition> partitions);

}  // namespace strata::topology
