// The levels of ranks: laws that hold for any topology, and what they are on some.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "tests/topology/examples.hpp"

namespace strata::topology::test {
namespace {

using Groups = std::vector<std::vector<Rank>>;

Hierarchy levels_of(const std::vector<Place>& places, const Topology& topology) {
  auto made = hierarchy(places, topology);
  REQUIRE(made.ok());
  return *made;
}

std::vector<std::string> names(const Hierarchy& hierarchy) {
  std::vector<std::string> all;
  for (const Level& level : hierarchy.levels) all.push_back(level.name);
  return all;
}

const Level& named(const Hierarchy& hierarchy, std::string_view name) {
  const auto level = std::find_if(hierarchy.levels.begin(), hierarchy.levels.end(),
                                  [&](const Level& l) { return l.name == name; });
  REQUIRE(level != hierarchy.levels.end());
  return *level;
}

// Of each rank, its group's index.
std::vector<std::size_t> group_of(const Level& level, int size) {
  std::vector<std::size_t> group(static_cast<std::size_t>(size), level.groups.size());
  for (std::size_t g = 0; g < level.groups.size(); ++g)
    for (const Rank rank : level.groups[g]) group[static_cast<std::size_t>(rank)] = g;
  return group;
}

bool is_partition(const Level& level, int size) {
  std::vector<Rank> ranks;
  for (const auto& group : level.groups) {
    if (group.empty() || !std::is_sorted(group.begin(), group.end())) return false;
    ranks.insert(ranks.end(), group.begin(), group.end());
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<Rank> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  return ranks == all;
}

bool contains(const Level& outer, const Level& inner, int size) {
  const auto group = group_of(outer, size);
  return std::all_of(inner.groups.begin(), inner.groups.end(), [&](const std::vector<Rank>& ranks) {
    return std::all_of(ranks.begin(), ranks.end(), [&](Rank r) {
      return group[static_cast<std::size_t>(r)] == group[static_cast<std::size_t>(ranks[0])];
    });
  });
}

// The laws of the type, for any way that it was made.
void check_laws(const Hierarchy& h, int size) {
  CHECK(h.size == size);
  CHECK(h.levels.empty() == (size < 2));
  std::size_t before = static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < h.levels.size(); ++i) {
    CHECK(is_partition(h.levels[i], size));
    CHECK(h.levels[i].groups.size() < before);
    before = h.levels[i].groups.size();
    const auto& groups = h.levels[i].groups;
    CHECK(std::is_sorted(groups.begin(), groups.end(),
                         [](const auto& a, const auto& b) { return a[0] < b[0]; }));
    if (i > 0) CHECK(contains(h.levels[i], h.levels[i - 1], size));
  }
  if (!h.levels.empty()) CHECK(h.levels.back().groups.size() == 1);
}

TEST_CASE("levels are nested partitions, each coarser, for any topology and places") {
  const unsigned seed = GENERATE(range(0u, 400u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const RandomCase c = random_case(random);
  const Hierarchy h = levels_of(c.places, c.topology);
  check_laws(h, static_cast<int>(c.places.size()));
}

TEST_CASE("no group within a host has ranks of two hosts") {
  const unsigned seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const RandomCase c = random_case(random);
  for (const Level& level : levels_of(c.places, c.topology).levels)
    if (std::find(std::begin(kHostLevels), std::end(kHostLevels), level.name) != std::end(kHostLevels)) {
      for (const auto& group : level.groups)
        for (const Rank rank : group)
          CHECK(c.places[static_cast<std::size_t>(rank)].host ==
                c.places[static_cast<std::size_t>(group[0])].host);
    }
}

TEST_CASE("the order of ranks changes their numbers in groups, and nothing else") {
  const unsigned seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const RandomCase c = random_case(random);
  const Hierarchy h = levels_of(c.places, c.topology);
  std::vector<std::size_t> order(c.places.size());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Place> places;
  for (const std::size_t old : order) places.push_back(c.places[old]);
  const Hierarchy shuffled = levels_of(places, c.topology);
  REQUIRE(names(shuffled) == names(h));
  for (std::size_t i = 0; i < h.levels.size(); ++i) {
    std::set<std::set<std::size_t>> expected, got;
    for (const auto& group : h.levels[i].groups) expected.emplace(group.begin(), group.end());
    for (const auto& group : shuffled.levels[i].groups) {
      std::set<std::size_t> old;
      for (const Rank rank : group) old.insert(order[static_cast<std::size_t>(rank)]);
      got.insert(old);
    }
    CHECK(got == expected);
  }
}

TEST_CASE("the common level is the innermost that has both ranks") {
  const Topology topology = hosts_of(even_machine(2, 1, 2, 2), 2);
  const Hierarchy h = levels_of(one_rank_a_core(topology), topology);
  REQUIRE(names(h) == std::vector<std::string>{"l3", "numa", "host", "cluster"});
  for (Rank a = 0; a < h.size; ++a)
    for (Rank b = 0; b < h.size; ++b) {
      if (a == b) continue;
      const std::size_t expected = a / 2 == b / 2 ? 0 : a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 2 : 3;
      CHECK(common_level(h, a, b) == expected);
    }
}

TEST_CASE("degenerate levels are left out and the inner name stays") {
  const Topology topology = hosts_of(even_machine(2, 1, 1, 2), 1);
  const Hierarchy h = levels_of(one_rank_a_core(topology), topology);
  CHECK(names(h) == std::vector<std::string>{"l3", "host"});  // l3, NUMA node and package are the same
  CHECK(h.levels[0].groups == Groups{{0, 1}, {2, 3}});

  const std::vector<Place> one_node{{"h0", {0}, kNone}, {"h0", {1}, kNone}};
  CHECK(names(levels_of(one_node, topology)) == std::vector<std::string>{"l3"});
  const std::vector<Place> apart{{"h0", {0}, kNone}, {"h0", {2}, kNone}};
  CHECK(names(levels_of(apart, topology)) == std::vector<std::string>{"host"});
  CHECK(levels_of({}, topology).levels.empty());
  CHECK(levels_of({{"h0", {0}, kNone}}, topology).levels.empty());
}

TEST_CASE("hardware threads of a core are the innermost level") {
  const Topology topology = hosts_of(even_machine(1, 1, 1, 2, 2), 1);
  const std::vector<Place> places{
      {"h0", {0}, kNone}, {"h0", {1}, kNone}, {"h0", {2}, kNone}, {"h0", {3}, kNone}};
  const Hierarchy h = levels_of(places, topology);
  REQUIRE(names(h) == std::vector<std::string>{"core", "l3"});
  CHECK(h.levels[0].groups == Groups{{0, 2}, {1, 3}});
}

TEST_CASE("ranks that span nodes, or whose CPUs nobody knows, are in none") {
  const Topology topology = hosts_of(even_machine(2, 1, 1, 2), 1);
  const std::vector<Place> unbound{{"h0", {0, 1, 2, 3}, kNone}, {"h0", {}, kNone}, {"h0", {77}, kNone}};
  CHECK(names(levels_of(unbound, topology)) == std::vector<std::string>{"host"});
  const std::vector<Place> mixed{
      {"h0", {0}, kNone}, {"h0", {0, 1, 2, 3}, kNone}, {"h0", {1}, kNone}, {"h0", {}, kNone}};
  CHECK(named(levels_of(mixed, topology), "l3").groups == Groups{{0, 2}, {1}, {3}});
}

TEST_CASE("an L3 cache over two NUMA nodes is the outer level") {
  Machine machine = even_machine(1, 4, 1, 2);
  for (Core& core : machine.cores) core.l3 /= 2;
  const Topology topology = hosts_of(machine, 1);
  CHECK(names(levels_of(one_rank_a_core(topology), topology)) ==
        std::vector<std::string>{"numa", "l3", "package"});
}

TEST_CASE("packages of one core each, as in some virtual machines, do not hide the NUMA nodes") {
  Machine machine = even_machine(8, 1, 1, 1);
  for (Core& core : machine.cores) core.numa /= 4, core.l3 = kNone;
  const Topology topology = hosts_of(machine, 1);
  const Hierarchy h = levels_of(one_rank_a_core(topology), topology);
  REQUIRE(names(h) == std::vector<std::string>{"numa", "host"});
  CHECK(h.levels[0].groups == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
}

TEST_CASE("GPU islands lie within a node or around several") {
  const auto ranks_on_gpus = [](int count) {
    std::vector<Place> places;
    for (int gpu = 0; gpu < count; ++gpu) places.push_back({"h0", {}, gpu});
    return places;
  };
  const Topology pairs = hosts_of(gpu_machine({{0, 1, 1}, {2, 3, 1}, {4, 5, 1}, {6, 7, 1}}), 1);
  const Hierarchy inner = levels_of(ranks_on_gpus(8), pairs);
  CHECK(names(inner) == std::vector<std::string>{"gpu_island", "pcie", "host"});
  CHECK(inner.levels[0].groups == Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});

  std::vector<GpuLink> switched;
  for (int gpu = 0; gpu < 8; ++gpu) switched.push_back({gpu, kNone, 1});
  const Hierarchy outer = levels_of(ranks_on_gpus(8), hosts_of(gpu_machine(switched), 1));
  CHECK(outer.levels[0].name == "pcie");
  CHECK(outer.levels.size() == 2);

  const Topology across = hosts_of(gpu_machine({{0, 4, 1}, {0, 1, 1}, {2, 6, 1}}), 1);
  const Hierarchy cut = levels_of(ranks_on_gpus(8), across);  // by the nodes, which the islands cross
  CHECK(names(cut) == std::vector<std::string>{"gpu_island", "pcie", "host"});
  CHECK(cut.levels[0].groups == Groups{{0, 1}, {2}, {3}, {4}, {5}, {6}, {7}});
}

TEST_CASE("racks and rows; groups may leave levels out") {
  Topology topology = hosts_of(even_machine(1, 1, 1, 1), 6);
  topology.levels = {"rack", "row"};
  topology.groups = {{"r0", 0, 2, 1}, {"r1", 0, 2, 1}, {"row", 1, kNone, 4}, {"r2", 0, kNone, 1}};
  const int group[] = {0, 0, 1, 1, 2, 3};  // h4 is in the row, in no rack; h5's rack is in no row
  for (std::size_t i = 0; i < 6; ++i) topology.hosts[i].group = group[i];
  const Hierarchy h = levels_of(one_rank_a_core(topology), topology);
  REQUIRE(names(h) == std::vector<std::string>{"rack", "row", "cluster"});
  CHECK(h.levels[0].groups == Groups{{0, 1}, {2, 3}, {4}, {5}});
  CHECK(h.levels[1].groups == Groups{{0, 1, 2, 3, 4}, {5}});
}

TEST_CASE("hosts of different kinds, with different numbers of ranks") {
  Topology topology = hosts_of(even_machine(2, 1, 1, 2), 1);
  topology.machines.push_back(even_machine(1, 3, 1, 2));
  topology.hosts.push_back({"other", 1, 0, kNone});
  topology.hosts.push_back({"unknown", kNone, 0, kNone});
  const std::vector<Place> places{{"other", {0}, kNone}, {"h0", {0}, kNone},     {"unknown", {0}, kNone},
                                  {"other", {1}, kNone}, {"unknown", {}, kNone}, {"h0", {1}, kNone},
                                  {"other", {2}, kNone}, {"other", {3}, kNone},  {"h0", {3}, kNone}};
  const Hierarchy h = levels_of(places, topology);
  REQUIRE(names(h) == std::vector<std::string>{"l3", "package", "host", "cluster"});
  CHECK(h.levels[0].groups == Groups{{0, 3}, {1, 5}, {2}, {4}, {6, 7}, {8}});
  CHECK(h.levels[1].groups == Groups{{0, 3, 6, 7}, {1, 5}, {2}, {4}, {8}});
  CHECK(h.levels[2].groups == Groups{{0, 3, 6, 7}, {1, 5, 8}, {2, 4}});
}

TEST_CASE("places that cannot be are refused by rank, value and cure") {
  Topology topology = hosts_of(gpu_machine({}), 2);
  topology.hosts[1].slots = 1;
  const auto refused = [&](const std::vector<Place>& places) {
    const auto made = hierarchy(places, topology);
    REQUIRE(!made.ok());
    CHECK(made.status().code() == ErrorCode::invalid_argument);
    return std::string(made.status().message());
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(refused({{"h0", {}, kNone}, {"g0", {}, kNone}}),
             Contains("rank 1 is on host 'g0'") && Contains("did you mean 'h0'"));
  CHECK_THAT(refused({{"h0", {}, 8}}), Contains("rank 0 has GPU 8 of host 'h0'") && Contains("0 to 7"));
  CHECK_THAT(refused({{"h1", {}, kNone}, {"h1", {}, kNone}}),
             Contains("host 'h1' has 2 ranks and slots for 1") && Contains("raise its slots"));
}

}  // namespace
TEST_CASE("some of the ranks are together where they are together among all") {
  const unsigned seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  RandomCase c = random_case(random);
  for (Host& host : c.topology.hosts) host.slots = 0;
  const Hierarchy whole = levels_of(c.places, c.topology);
  std::vector<Rank> ranks(c.places.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  CHECK(among(whole, ranks) == whole);
  std::shuffle(ranks.begin(), ranks.end(), random);
  std::vector<Place> shuffled;
  for (const Rank rank : ranks) shuffled.push_back(c.places[static_cast<std::size_t>(rank)]);
  const Hierarchy again = among(whole, ranks), other = levels_of(shuffled, c.topology);
  CHECK(again == other);
  ranks.resize(ranks.size() / 2);
  const Hierarchy part = among(whole, ranks);
  REQUIRE(part.size == static_cast<int>(ranks.size()));
  for (Rank a = 0; a < part.size; ++a)
    for (Rank b = 0; b < a; ++b)
      CHECK(part.levels[common_level(part, a, b)].name ==
            whole
                .levels[common_level(whole, ranks[static_cast<std::size_t>(a)],
                                     ranks[static_cast<std::size_t>(b)])]
                .name);
}

}  // namespace strata::topology::test
