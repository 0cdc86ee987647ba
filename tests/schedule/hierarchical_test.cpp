// The hierarchical algorithms are proved for levels of all kinds, and put on each level's links what they
// must.
#include <algorithm>
#include <numeric>

#include "ccl/algorithms/ownership.hpp"
#include "tests/schedule/catalog_proof.hpp"

namespace strata::test {
namespace {

using topology::Hierarchy;
using topology::Level;

Levels by_hand(int size, std::string_view text) {
  const std::vector<topology::Place> places(static_cast<std::size_t>(size), topology::Place{"host", {}, -1});
  topology::Topology host;
  host.machines.emplace_back();
  host.hosts.push_back({.name = "host", .machine = 0});
  Expected<Hierarchy> made = topology::hierarchy_by_hand(text, places, host);
  REQUIRE(made.status().message() == "");
  return std::make_shared<const Hierarchy>(std::move(*made));
}

std::vector<std::vector<Rank>> sorted(std::vector<std::vector<Rank>> groups) {
  for (auto& group : groups) std::sort(group.begin(), group.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}

// Ranks in any order, in groups of any sizes: each level joins some of the groups before.
Levels random_levels(int size, std::mt19937_64& random) {
  auto made = std::make_shared<Hierarchy>();
  made->size = size;
  std::vector<Rank> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::shuffle(ranks.begin(), ranks.end(), random);
  std::vector<std::vector<Rank>> groups;
  for (const Rank rank : ranks) groups.push_back({rank});
  while (groups.size() > 1) {
    std::vector<std::vector<Rank>> joined;
    while (!groups.empty()) {
      joined.emplace_back();
      for (std::size_t n = std::min<std::size_t>(groups.size(), 1 + random() % 4); n > 0; --n) {
        joined.back().insert(joined.back().end(), groups.back().begin(), groups.back().end());
        groups.pop_back();
      }
    }
    groups = joined;
    const auto level = sorted(groups);
    const bool singles = level.size() == static_cast<std::size_t>(size);
    const bool again = !made->levels.empty() && made->levels.back().groups == level;
    if (!singles && !again) made->levels.push_back({"level", level});
  }
  return made;
}

std::vector<const Algorithm*> hierarchical() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& a : catalog())
    if (a.name == "hierarchical") all.push_back(&a);
  return all;
}

}  // namespace

TEST_CASE("hierarchical algorithms are correct for levels as they are found") {
  constexpr std::uint64_t kSeed = 20261130;
  const std::pair<int, const char*> shapes[] = {
      {4, "2x2"},         {8, "2x4"},
      {8, "4x2"},         {16, "4x4"},
      {8, "2x2x2"},       {12, "3x2x2"},
      {8, "0-2,3-7"},                                    // uneven
      {6, "0+2+4,1+3+5"},                                // round robin
      {5, "0,1,2-4"},     {7, "0-1,2-3,4-5,6;0-3,4-6"},  // hosts of one rank, a level that some lack
  };
  for (const auto& [size, text] : shapes)
    for (const Algorithm* a : hierarchical()) {
      CAPTURE(text, kSeed, a->collective);
      CatalogProof proof(*a, size, kSeed, by_hand(size, text));
      proof.run(size > 8);
      CHECK(proof.proofs() > 0);
    }
}

TEST_CASE("hierarchical algorithms are correct for any levels") {
  constexpr std::uint64_t kSeed = 77;
  std::mt19937_64 random(kSeed);
  int proofs = 0;
  for (int round = 0; round < 40; ++round) {
    const int size = 3 + static_cast<int>(random() % 18);
    const Levels levels = random_levels(size, random);
    for (const Algorithm* a : hierarchical()) {
      CAPTURE(kSeed, round, size, a->collective);
      CatalogProof proof(*a, size, random(), levels);
      proof.run(true);
      proofs += proof.proofs();
    }
  }
  CHECK(proofs > 1000);
}

namespace {

// Bytes that leave each group of the innermost level.
std::vector<std::uint64_t> bytes_out(const Algorithm& a, const Request& request, int size,
                                     const Levels& levels, const Tuning& tuning) {
  const auto& groups = levels->levels[levels->levels.size() - 2].groups;
  const auto group_of = [&](Rank rank) {
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (std::find(groups[g].begin(), groups[g].end(), rank) != groups[g].end()) return g;
    return groups.size();
  };
  const Programs programs = build_all(a, same_on_all(request, size), tuning, levels);
  std::vector<std::uint64_t> bytes(groups.size());
  for (Rank me = 0; me < size; ++me)
    for (const Step& step : programs[static_cast<std::size_t>(me)].steps())
      if (step.op == Op::send && group_of(step.peer) != group_of(me)) bytes[group_of(me)] += step.length;
  return bytes;
}

}  // namespace

// reference: the bounds of a network whose links are those of the groups, full duplex. The M bytes of an
// all-reduce leave and enter each of n groups 2 (n - 1) / n times, those of a gather or scatter of all (n -
// 1) / n times.
TEST_CASE("no group sends more than the bound, whatever the sizes and the order of ranks") {
  constexpr std::uint64_t kBytes = 1 << 20;
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    const std::size_t n = 2 + random() % 4;
    std::vector<std::vector<Rank>> groups(n);
    std::vector<Rank> ranks(n + random() % 8);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), random);
    for (std::size_t i = 0; i < ranks.size(); ++i) groups[i < n ? i : random() % n].push_back(ranks[i]);
    if (ranks.size() == n) continue;
    const int size = static_cast<int>(ranks.size());
    auto made = std::make_shared<Hierarchy>();
    made->size = size;
    made->levels = {{"host", sorted(groups)}, {"cluster", sorted({ranks})}};
    Request r;
    r.collective = Collective::all_reduce;
    r.type = DataType::uint8;
    r.count = kBytes;
    const Tuning tuning{.channels = 1, .segment_bytes = 128 << 10};
    const auto sent = bytes_out(*find_algorithm(r.collective, "hierarchical"), r, size, made, tuning);
    for (const std::uint64_t bytes : sent) CHECK(bytes <= 2 * (n - 1) * kBytes / n + 1024);
    r.collective = Collective::broadcast;
    r.root = static_cast<Rank>(random() % static_cast<std::uint64_t>(size));
    std::uint64_t all = 0;
    for (const std::uint64_t bytes :
         bytes_out(*find_algorithm(r.collective, "hierarchical"), r, size, made, tuning)) {
      CHECK(bytes <= kBytes);
      all += bytes;
    }
    CHECK(all == (n - 1) * kBytes);  // once into each of the others
  }
}

TEST_CASE("shares are equal for inner groups, whatever their sizes") {
  const Group group = whole_group(8, 0, by_hand(8, "0-2,3-7"));
  const Nest nest = nest_of(group);
  std::vector<std::uint64_t> had(8);
  for (const Holding& h : share_out(nest, {0, 3000}))
    had[static_cast<std::size_t>(h.owner)] += h.interval.end - h.interval.begin;
  CHECK(std::accumulate(had.begin(), had.begin() + 3, std::uint64_t{0}) == 1500);
  for (int rank = 0; rank < 3; ++rank) CHECK(had[static_cast<std::size_t>(rank)] == 500);
  for (int rank = 3; rank < 8; ++rank) CHECK(had[static_cast<std::size_t>(rank)] == 300);
}

}  // namespace strata::test
