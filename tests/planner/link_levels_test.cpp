// Links cost what the innermost level of both ranks says; hosts share NICs and uplinks.
#include "ccl/planner/link_levels.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "ccl/planner/predict.hpp"
#include "tests/topology/examples.hpp"

namespace strata {
namespace {

struct Case {
  topology::Hierarchy hierarchy;
  std::vector<int> host;
};

Case random_levels(std::mt19937& random) {
  auto c = topology::test::random_case(random);
  for (topology::Host& host : c.topology.hosts) host.slots = 0;
  std::shuffle(c.places.begin(), c.places.end(), random);
  Case found{topology::hierarchy(c.places, c.topology).value(), {}};
  std::vector<std::string> names;
  for (const topology::Place& place : c.places) {
    const auto known = std::find(names.begin(), names.end(), place.host);
    found.host.push_back(static_cast<int>(known - names.begin()));
    if (known == names.end()) names.push_back(place.host);
  }
  return found;
}

Request all_reduce_of(std::uint64_t count) {
  Request request;
  request.collective = Collective::all_reduce;
  request.type = DataType::float32;
  request.count = count;
  return request;
}

Picoseconds time_of_ring(const CostModel& model) {
  return predict(*find_algorithm(Collective::all_reduce, "ring"), all_reduce_of(1 << 18), {}, model);
}

}  // namespace

TEST_CASE("a link is of the innermost level that has both ranks, within a host or between two") {
  const unsigned seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Case c = random_levels(random);
  const LinkLevels links = link_levels(c.hierarchy, c.host, LinkKind::shm);
  for (Rank a = 0; a < c.hierarchy.size; ++a)
    for (Rank b = 0; b < c.hierarchy.size; ++b) {
      if (a == b) continue;
      const LinkLevels::Level& level = links.between(a, b);
      CHECK(&level == &links.levels[common_level(c.hierarchy, a, b)]);
      const bool together = c.host[static_cast<std::size_t>(a)] == c.host[static_cast<std::size_t>(b)];
      CHECK(level.kind == (together ? LinkKind::shm : LinkKind::tcp));
      CHECK(level.cost == default_costs().of(level.kind));
    }
  for (std::size_t i = 0; i < links.levels.size(); ++i) {
    const auto [low, high] = pair_of(links, i);
    CHECK(low < high);
    CHECK(&links.between(low, high) == &links.levels[i]);
    const auto pairs = pairs_of(links, i, 3);
    CHECK((!pairs.empty() && pairs.size() <= 3));
    std::set<Rank> ranks;
    for (const auto& [a, b] : pairs) {
      CHECK(a < b);
      CHECK(&links.between(a, b) == &links.levels[i]);
      CHECK((ranks.insert(a).second && ranks.insert(b).second));
    }
  }
}

TEST_CASE("some of the ranks pay what they paid among all, and keep their levels") {
  const unsigned seed = GENERATE(range(0u, 100u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Case c = random_levels(random);
  std::vector<Rank> members;
  for (Rank r = 0; r < c.hierarchy.size; ++r)
    if (random() % 2 == 0) members.push_back(r);
  std::shuffle(members.begin(), members.end(), random);
  LinkLevels links = link_levels(c.hierarchy, c.host, LinkKind::shm);
  for (std::size_t i = 0; i < links.levels.size(); ++i)
    links.levels[i].cost.send_ps = static_cast<Picoseconds>(i);
  CostModel model{
      default_costs(), {c.host, std::vector<int>(c.host.size(), 1), LinkKind::shm}, nullptr, nullptr};
  model.links = std::make_shared<const LinkLevels>(links);
  if (c.hierarchy.levels.size() > 1) model.levels = std::make_shared<const topology::Hierarchy>(c.hierarchy);
  const CostModel part = model.of_members(members);
  const topology::Hierarchy own = topology::among(c.hierarchy, members);
  REQUIRE(part.size() == static_cast<int>(members.size()));
  CHECK((part.levels != nullptr) == topology::has_structure(own));
  for (int a = 0; a < part.size(); ++a)
    for (int b = 0; b < part.size(); ++b) {
      if (a == b) continue;
      const Rank whole_a = members[static_cast<std::size_t>(a)],
                 whole_b = members[static_cast<std::size_t>(b)];
      CHECK(part.link(a, b) == model.link(whole_a, whole_b));
      CHECK(own.levels[common_level(own, a, b)].name ==
            c.hierarchy.levels[common_level(c.hierarchy, whole_a, whole_b)].name);
    }
}

TEST_CASE("a topology's NICs and uplinks are shares of the job's hosts") {
  // Hosts a and b in rack r0, c in r1; each 10 Gb/s; b's is not known.
  topology::Topology stated;
  stated.levels = {"rack"};
  stated.groups = {{"r0", 0, topology::kNone, 4}, {"r1", 0, topology::kNone, 2}};
  topology::Machine fast{"fast", {}, {}, {}, {}, {}, {}, {}, {}};
  fast.nics.push_back({"eth0", "", "", 10'000'000'000, topology::kNone, topology::kNone, topology::kNone, 0});
  stated.machines = {fast};
  stated.hosts = {{"a", 0, 0, 0}, {"b", topology::kNone, 0, 0}, {"c", 0, 0, 1}, {"d", 0, 0, 1}};
  const std::vector<std::string> names = {"c", "a", "b"};
  topology::Hierarchy ranks{3, {{"cluster", {{0, 1, 2}}}}};
  const LinkLevels links = link_levels(ranks, std::vector<int>{0, 1, 2}, LinkKind::shm);
  Placement placement{{0, 1, 2}, {1, 1, 1}, LinkKind::shm};
  add_shares(stated, {}, names, links, placement);
  const Picoseconds ten = ps_per_kib_at(10'000'000'000);
  CHECK(ten == 819'200);
  CHECK(placement.nic_ps_per_kib == std::vector<Picoseconds>{ten, ten, links.levels[0].cost.wire_ps_per_kib});
  // Cards may say that they carry more than was measured, but not less.
  topology::Topology found = stated;
  found.machines.push_back(fast);
  found.machines[1].nics[0].rate = 1'000'000'000;
  found.hosts[1].machine = 1;
  Placement slow{{0, 1, 2}, {1, 1, 1}, LinkKind::shm}, quick = slow;
  add_shares(stated, found, names, links, slow);
  CHECK(slow.nic_ps_per_kib == placement.nic_ps_per_kib);
  found.machines[1].nics[0].rate = 100'000'000'000;
  add_shares(stated, found, names, links, quick);
  CHECK(quick.nic_ps_per_kib == std::vector<Picoseconds>{ten, ten, ten / 10});
  // r0's uplink is not known, since b's NIC is not; r1's carries 2 x 10 / 2.
  REQUIRE(placement.uplinks.size() == 1);
  CHECK(placement.uplinks[0] == Uplink{ten, {true, false, false}});
}

TEST_CASE("ranks that share an uplink wait for each other, and those that do not do not") {
  // Two racks of two hosts; the ring has two links between racks, one each way.
  const topology::Hierarchy four{4, {{"rack", {{0, 1}, {2, 3}}}, {"cluster", {{0, 1, 2, 3}}}}};
  const std::vector<int> host = {0, 1, 2, 3};
  CostModel model{default_costs(), {host, {1, 1, 1, 1}, LinkKind::shm}, nullptr, nullptr};
  model.links = std::make_shared<const LinkLevels>(link_levels(four, host, LinkKind::shm));
  const Picoseconds free = time_of_ring(model);
  const Picoseconds wire = model.costs.of(LinkKind::tcp).wire_ps_per_kib;
  model.placement.nic_ps_per_kib.assign(4, wire);
  CHECK(time_of_ring(model) == free);
  const auto with_uplinks = [&](Picoseconds ps_per_kib) {
    CostModel shared = model;
    shared.placement.uplinks = {{ps_per_kib, {true, true, false, false}},
                                {ps_per_kib, {false, false, true, true}}};
    return time_of_ring(shared);
  };
  CHECK(with_uplinks(wire) == free);         // one message of the ring at a time goes each way
  CHECK(with_uplinks(4 * wire) > 3 * free);  // which takes four times as long
  // The same ring in an order that crosses with every message: two share each uplink each way.
  CostModel crossing = model;
  crossing.placement.host = {0, 2, 1, 3};
  crossing.links = nullptr;
  const Picoseconds alone = time_of_ring(crossing);
  crossing.placement.uplinks = {{wire, {true, true, false, false}}};
  CHECK(time_of_ring(crossing) > alone * 3 / 2);
  // A slow NIC holds up the links of its host only.
  CostModel slow = model;
  slow.placement.nic_ps_per_kib[3] = 4 * wire;
  CHECK(time_of_ring(slow) > 3 * free);
}

TEST_CASE("rates and times of 1 KiB are each other's inverse") {
  for (const topology::BitsPerSecond rate : {1ull, 1'000'000ull, 10'000'000'000ull, 400'000'000'000ull}) {
    const auto back = rate_at(ps_per_kib_at(rate));
    CHECK(back >= rate);
    CHECK(back - rate <= rate / 1000);
  }
  CHECK(ps_per_kib_at(0) == 0);
  CHECK(rate_at(0) == 0);
}

}  // namespace strata
