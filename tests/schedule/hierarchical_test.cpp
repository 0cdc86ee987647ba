// The hierarchical algorithms are proved for levels of all kinds, and put on each level's links what they
// must.
#include <algorithm>
#include <numeric>

#include "ccl/algorithms/ownership.hpp"
#include "ccl/algorithms/unequal.hpp"
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

// Of some levels; some of them are so low that who has them sums nothing.
std::vector<topology::BitsPerSecond> random_rates(std::size_t count, std::mt19937_64& random) {
  std::vector<topology::BitsPerSecond> rates;
  for (std::size_t i = 0; i < count; ++i)
    rates.push_back(static_cast<topology::BitsPerSecond>(1'000'000 * (1 + random() % 100)));
  return random() % 2 == 0 ? rates : std::vector<topology::BitsPerSecond>();
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
  auto groups_before = static_cast<std::size_t>(size);
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
    if (!singles && !again) made->levels.push_back({"level", level, random_rates(groups_before, random)});
    groups_before = level.size();
  }
  return made;
}

std::vector<const Algorithm*> hierarchical() {
  std::vector<const Algorithm*> all;
  for (const Algorithm& a : catalog())
    if (a.name.starts_with("hierarchical")) all.push_back(&a);
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

// Bytes that leave each group of the last level but one, or each rank.
std::vector<std::uint64_t> bytes_out(const Algorithm& a, const Request& request, int size,
                                     const Levels& levels, const Tuning& tuning) {
  std::vector<std::vector<Rank>> groups;
  if (levels->levels.size() > 1) groups = levels->levels[levels->levels.size() - 2].groups;
  for (Rank rank = 0; rank < size && levels->levels.size() == 1; ++rank) groups.push_back({rank});
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
    made->levels = {{"host", sorted(groups), {}}, {"cluster", sorted({ranks}), {}}};
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

// reference: T* = max(M / min B, 2 (n - 1) M / sum B), the least time of an all-reduce of M bytes.
TEST_CASE("between unequal links no group takes longer than the optimum of all") {
  constexpr std::uint64_t kBytes = 1 << 20, kSeed = 11;
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 60; ++round) {
    const int n = 3 + static_cast<int>(random() % 6), ranks_each = 1 + static_cast<int>(random() % 3);
    const int size = n * ranks_each;
    auto made = std::make_shared<Hierarchy>();
    made->size = size;
    std::vector<std::vector<Rank>> hosts(static_cast<std::size_t>(n));
    std::vector<Rank> all;
    for (Rank rank = 0; rank < size; ++rank) {
      hosts[static_cast<std::size_t>(rank % n)].push_back(rank);
      all.push_back(rank);
    }
    std::vector<topology::BitsPerSecond> rates;
    for (int i = 0; i < n; ++i)
      rates.push_back(static_cast<topology::BitsPerSecond>(1'000'000 * (1 + random() % 100)));
    if (ranks_each > 1) made->levels.push_back({"host", hosts});
    made->levels.push_back({"cluster", {all}, rates});
    Request r;
    r.collective = Collective::all_reduce;
    r.type = DataType::uint8;
    r.count = kBytes;
    const Algorithm& a = *find_algorithm(r.collective, "hierarchical");
    CAPTURE(kSeed, round, n, ranks_each, rates);
    REQUIRE(a.supports(r, whole_group(size, 0, made)));
    const auto sent = bytes_out(a, r, size, made, {.channels = 1, .segment_bytes = 256 << 10});
    const auto slowest = static_cast<double>(*std::min_element(rates.begin(), rates.end()));
    const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
    const double optimum = std::max(kBytes / slowest, 2.0 * (n - 1) * kBytes / sum);
    for (std::size_t i = 0; i < sent.size(); ++i)
      CHECK(static_cast<double>(sent[i]) / static_cast<double>(rates[i]) <= optimum * 1.08 + 64 / slowest);
  }
}

TEST_CASE("unequal shares: the published example, one end that decides alone, and when they are equal") {
  using Shares = std::vector<std::uint64_t>;
  const auto shares = [](std::vector<std::uint64_t> rates) { return unequal_shares(rates); };
  // {1, 1, 1, 1/2}: T* = 6/3.5 M; x = (T* - M) / 2 = 5/14 M for the fast ones, and nothing is left for the
  // slow one's (6/7 - 1) / 2 < 0: it decides alone, T* = 2 M.
  CHECK(shares({100, 100, 100, 50}) == Shares{349525, 349525, 349526, 0});
  // {1, 1, 1, 3/4}: T* = 6/3.75 M = 1.6 M; x = 0.3 M and 0.1 M.
  const Shares three_quarters = shares({400, 400, 400, 300});
  CHECK(std::accumulate(three_quarters.begin(), three_quarters.end(), std::uint64_t{0}) == kWholeShare);
  CHECK(std::abs(static_cast<double>(three_quarters[0]) / kWholeShare - 0.3) < 1e-5);
  CHECK(std::abs(static_cast<double>(three_quarters[3]) / kWholeShare - 0.1) < 1e-5);
  CHECK(shares({100, 50}).empty());
  CHECK(shares({100, 98, 99, 100}).empty());
  CHECK(shares({400'000'000'000'000, 100'000'000'000, 400'000'000'000'000}).size() == 3);
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
