// From where ranks sit to the kinds of link that they have, and to what hosts share.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ccl/planner/cost_model.hpp"
#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/topology.hpp"

namespace strata {

// A kind of link for each level, with its default cost. host: of each rank; within: how ranks of one reach
// each other. Each pair of ranks of one host must be together on a level where no hosts are.
LinkLevels link_levels(const topology::Hierarchy& hierarchy, std::span<const int> host, LinkKind within);

// The ranks that measure a level's links for all: the first two in order of rank, the lower one first, of
// which it is the innermost level.
std::pair<Rank, Rank> pair_of(const LinkLevels& links, std::size_t level);

// Pairs of ranks of which it is the innermost level, no rank in two of them, spread over the level's groups.
// At least one, at most `most`.
std::vector<std::pair<Rank, Rank>> pairs_of(const LinkLevels& links, std::size_t level, std::size_t most);

// "shm" or "tcp": how a topology file calls it.
std::string_view medium_of(LinkKind kind);

// What the placement's hosts share of NICs and uplinks; names: theirs. stated: what a file says; found: what
// is known besides, by the cards' word, which counts where it is more than what was measured between hosts.
// NICs of which nothing is known are as fast as the fastest link between hosts.
void add_shares(const topology::Topology& stated, const topology::Topology& found,
                std::span<const std::string> names, const LinkLevels& links, Placement& placement);

}  // namespace strata
