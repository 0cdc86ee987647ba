// CPU lists, where ranks are in a machine, and which NICs are near.
#include "ccl/topology/position.hpp"

#include <catch2/catch.hpp>

#include "ccl/topology/cpu_list.hpp"
#include "tests/topology/examples.hpp"

namespace strata::topology::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("CPU lists are read as they are written") {
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    std::vector<int> cpus;
    for (int cpu = 0; cpu < 40; ++cpu)
      if (random() % 2 == 0) cpus.push_back(cpu);
    CHECK(parse_cpu_list(format_cpu_list(cpus)).value() == cpus);
  }
  CHECK(parse_cpu_list("3,0-1,1").value() == std::vector<int>{0, 1, 3});
  CHECK(format_cpu_list(std::vector<int>{0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
}

TEST_CASE("what is no CPU list is refused with the part that is wrong") {
  for (const char* text : {"x", "1,,2", "1-", "-1", "5-3", "1 2", "99999", "0-99999999999"}) {
    CAPTURE(text);
    const auto read = parse_cpu_list(text);
    REQUIRE(!read.ok());
    CHECK_THAT(std::string(read.status().message()), Contains("no CPU") && Contains(text));
  }
}

TEST_CASE("the NICs near a rank: its GPU's switch, then its NUMA node, its package, any") {
  const Machine machine = gpu_machine({});
  const auto near = [&](const Place& place) { return nics_near(machine, place); };
  CHECK(near({"", {}, 5}).nearness == Nearness::pcie_switch);
  CHECK(near({"", {}, 5}).nics == std::vector<int>{1});
  CHECK(near({"", {0}, kNone}).nearness == Nearness::numa);
  CHECK(near({"", {0}, kNone}).nics == std::vector<int>{0, 2});
  CHECK(near({"", {}, kNone}).nearness == Nearness::machine);
  CHECK(near({"", {}, kNone}).nics == std::vector<int>{0, 1, 2});
  Machine split = even_machine(2, 2, 1, 1);
  split.nics = {{"a", "", "", 1, 1, kNone, kNone}, {"b", "", "", 1, 2, kNone, kNone}};
  CHECK(nics_near(split, {"", {0}, kNone}).nearness == Nearness::package);
  CHECK(nics_near(split, {"", {0}, kNone}).nics == std::vector<int>{0});
  CHECK(nics_near(even_machine(1, 1, 1, 1), {"", {0}, kNone}).nics.empty());
}

TEST_CASE("switches below a common switch are near") {
  Machine machine = even_machine(1, 1, 1, 1);
  machine.pcie_switches = {{"a", 0, kNone}, {"b", 0, 0}, {"c", 0, 0}};
  machine.gpus = {{"g", "", 0, 1}};
  machine.nics = {{"n", "", "", 1, 0, 2, kNone}, {"m", "", "", 1, 0, kNone, kNone}};
  CHECK(nics_near(machine, {"", {}, 0}).nics == std::vector<int>{0});
}

TEST_CASE("islands are what links join") {
  CHECK(gpu_islands(gpu_machine({{0, 1, 1}, {2, 1, 1}, {5, 6, 1}})) ==
        std::vector<int>{0, 0, 0, kNone, kNone, 5, 5, kNone});
  CHECK(gpu_islands(gpu_machine({{3, kNone, 1}, {6, kNone, 1}})) ==
        std::vector<int>{kNone, kNone, kNone, 3, kNone, kNone, 3, kNone});
}

TEST_CASE("measured costs are found by level and medium") {
  Topology topology;
  topology.costs = {{"numa", "shm", 100, 8}, {"host", "shm", 200, 7}, {"host", "tcp", 300, 6}};
  CHECK(cost_of(topology, "host", "tcp")->latency_ps == 300);
  CHECK(cost_of(topology, "numa", "tcp") == nullptr);
}

}  // namespace
}  // namespace strata::topology::test
