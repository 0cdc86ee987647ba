// Rates that the topology states, and topologies made of hosts that describe themselves.
#include "ccl/topology/rates.hpp"

#include <catch2/catch.hpp>

#include "ccl/topology/set_machine.hpp"
#include "tests/topology/examples.hpp"

namespace strata::topology::test {
namespace {

constexpr BitsPerSecond kGiga = 1'000'000'000;

// One core, and a NIC for each rate.
Machine machine_with(const std::string& name, const std::vector<BitsPerSecond>& rates) {
  Machine machine = even_machine(1, 1, 1, 1);
  machine.name = name;
  for (std::size_t i = 0; i < rates.size(); ++i)
    machine.nics.push_back({"eth" + std::to_string(i), "", "", rates[i], 0, kNone, kNone});
  return machine;
}

// Two racks of two hosts in one row, and a host in a row of its own.
Topology two_rows() {
  Topology topology = hosts_of(machine_with("m", {60 * kGiga, 40 * kGiga}), 5);
  topology.levels = {"rack", "row"};
  topology.groups = {{"r0", 0, 2, 2}, {"r1", 0, 2, 4}, {"w0", 1, kNone, 5}, {"w1", 1, kNone, 1}};
  const int group[] = {0, 0, 1, 1, 3};
  for (std::size_t i = 0; i < 5; ++i) topology.hosts[i].group = group[i];
  return topology;
}

TEST_CASE("the rate between hosts is divided by what the way out of their groups is oversubscribed") {
  const Topology topology = two_rows();
  CHECK(host_rate(topology, 0) == 100 * kGiga);
  CHECK(rate_between(topology, 0, 1) == 100 * kGiga);
  CHECK(rate_between(topology, 0, 2) == 25 * kGiga);
  CHECK(rate_between(topology, 0, 4) == 10 * kGiga);
  CHECK(rate_between(topology, 3, 4) == 5 * kGiga);
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < a; ++b) CHECK(rate_between(topology, a, b) == rate_between(topology, b, a));
}

TEST_CASE("a rate that is not known stays so") {
  Topology topology = two_rows();
  topology.hosts[1].machine = kNone;
  CHECK(rate_between(topology, 0, 1) == 0);
  topology.machines[0].nics[1].rate = 0;
  CHECK(host_rate(topology, 0) == 0);
}

TEST_CASE("levels between hosts have the rates of their members") {
  Topology topology = two_rows();
  std::vector<Place> places;
  for (const char* host : {"h0", "h0", "h1", "h2", "h3", "h4"}) places.push_back({host, {}, kNone});
  const Hierarchy alike = hierarchy(places, topology).value();
  REQUIRE(alike.levels.size() == 4);
  CHECK(alike.levels[0].name == "host");
  CHECK(alike.levels[0].rates.empty());
  CHECK(alike.levels[1].name == "rack");
  CHECK(alike.levels[1].rates.empty());  // within each rack its hosts have 100 Gb/s
  CHECK(alike.levels[2].name == "row");
  CHECK(alike.levels[2].rates == std::vector<BitsPerSecond>{100 * kGiga, 50 * kGiga, 100 * kGiga});
  CHECK(alike.levels[3].rates == std::vector<BitsPerSecond>{30 * kGiga, 100 * kGiga});

  topology.machines.push_back(machine_with("slow", {10 * kGiga}));
  topology.hosts[1].machine = 1;
  const Hierarchy slow = hierarchy(places, topology).value();
  CHECK(slow.levels[1].rates ==
        std::vector<BitsPerSecond>{100 * kGiga, 10 * kGiga, 100 * kGiga, 100 * kGiga, 100 * kGiga});
  topology.hosts[1].machine = kNone;
  const Hierarchy unknown = hierarchy(places, topology).value();
  for (const Level& level : unknown.levels) CHECK(level.rates.empty());
}

TEST_CASE("ranks alone on their hosts are one level, with the rates of these") {
  Topology topology = hosts_of(machine_with("m", {40 * kGiga}), 3);
  std::vector<Place> places = {{"h2", {}, kNone}, {"h0", {}, kNone}, {"h1", {}, kNone}};
  CHECK(hierarchy(places, topology).value().levels[0].rates.empty());
  CHECK(!has_structure(hierarchy(places, topology).value()));
  topology.machines.push_back(machine_with("slow", {10 * kGiga}));
  topology.hosts[0].machine = 1;
  const Hierarchy slow = hierarchy(places, topology).value();
  CHECK(slow.levels[0].rates == std::vector<BitsPerSecond>{40 * kGiga, 10 * kGiga, 40 * kGiga});
  CHECK(has_structure(slow));
  CHECK(among(slow, std::vector<Rank>{2, 1}).levels[0].rates ==
        std::vector<BitsPerSecond>{40 * kGiga, 10 * kGiga});
  CHECK(!has_structure(among(slow, std::vector<Rank>{2, 0})));
}

TEST_CASE("hosts that describe themselves share machines that are alike") {
  Topology topology;
  set_machine("a", machine_with("a", {kGiga}), topology);
  set_machine("b", machine_with("b", {kGiga}), topology);
  set_machine("c", machine_with("a", {2 * kGiga}), topology);
  CHECK(topology.hosts == std::vector<Host>{{"a", 0, 0, kNone}, {"b", 0, 0, kNone}, {"c", 1, 0, kNone}});
  REQUIRE(topology.machines.size() == 2);
  CHECK(topology.machines[1].name == "a-2");
}

TEST_CASE("what is stated of a host stays when it describes itself") {
  Topology topology = two_rows();
  topology.hosts[2].slots = 8;
  topology.machines[0].nics[1].rail = 1;
  set_machine("h2", machine_with("h2", {kGiga, 3 * kGiga}), topology);
  CHECK(topology.hosts[2] == Host{"h2", 1, 8, 1});
  CHECK(topology.machines[1].nics[1].rail == 1);
  CHECK(topology.machines[1].nics[0].rail == kNone);
  CHECK(topology.hosts[0].machine == 0);
}

}  // namespace
TEST_CASE("an uplink carries what its members send at most, divided by its oversubscription") {
  Topology t;
  t.levels = {"rack", "row"};
  t.groups = {{"row", 1, kNone, 3}, {"left", 0, 0, 2}, {"right", 0, 0, 1}, {"empty", 0, kNone, 1}};
  t.machines = {machine_with("m", {6 * kGiga, 6 * kGiga}), machine_with("unknown", {0})};
  t.hosts = {{"a", 0, 0, 1}, {"b", 0, 0, 1}, {"c", 0, 0, 2}};
  CHECK(uplink_rate(t, 1) == 12 * kGiga);
  CHECK(uplink_rate(t, 2) == 12 * kGiga);
  CHECK(uplink_rate(t, 0) == 8 * kGiga);
  CHECK(uplink_rate(t, 3) == 0);
  t.hosts.push_back({"d", 1, 0, 2});
  CHECK(uplink_rate(t, 2) == 0);
  CHECK(uplink_rate(t, 0) == 0);
  CHECK(uplink_rate(t, 1) == 12 * kGiga);
}

}  // namespace strata::topology::test
