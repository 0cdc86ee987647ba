// What strata-topo understands, where it puts ranks, and the table of levels.
#include <catch2/catch.hpp>

#include "tests/topology/examples.hpp"
#include "tools/strata_topo/levels_table.hpp"
#include "tools/strata_topo/options.hpp"
#include "tools/strata_topo/places.hpp"

namespace strata::topo::test {
namespace {

using namespace topology;
using namespace topology::test;
using Catch::Matchers::Contains;

Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "strata-topo");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST_CASE("commands and their options") {
  const Options show =
      parse({"show", "--topology", "f", "--svg", "g", "--width", "90", "--ascii"}).options.value();
  CHECK(show.command == Command::show);
  CHECK((show.topology == "f" && show.svg == "g" && show.width == 90 && show.ascii));
  CHECK(parse({"dump"}).options.value().command == Command::dump);
  const Options levels =
      parse({"levels", "--place", "a:0-3", "--place", "b", "--levels", "2x1"}).options.value();
  CHECK(levels.places == std::vector<std::string>{"a:0-3", "b"});
  CHECK(levels.levels == "2x1");
  CHECK(parse({"levels", "-n", "4"}).options.value().ranks == 4);
  CHECK(parse({"import", "x.xml"}).options.value().topology == "x.xml");
}

TEST_CASE("what is not understood is the usage's exit code") {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{},
                                             {"shw"},
                                             {"show", "--topolgy", "f"},
                                             {"show", "more"},
                                             {"show", "--width", "3"},
                                             {"import"},
                                             {"levels", "-n", "0"},
                                             {"levels", "-n", "2", "--place", "a"}}) {
    const Parsed parsed = parse(arguments);
    CHECK(!parsed.options);
    CHECK(parsed.exit_code == kUsage);
  }
}

TEST_CASE("ranks fill hosts, with a GPU each or an even share of the cores") {
  Topology topology = hosts_of(even_machine(1, 1, 1, 5), 2);
  topology.hosts.push_back({"unknown", kNone, 0, kNone});
  const auto two = fill_hosts(topology, 2);
  REQUIRE(two.size() == 6);
  CHECK(two[0] == Place{"h0", {0, 1}, kNone});
  CHECK(two[3] == Place{"h1", {2, 3, 4}, kNone});
  CHECK(two[5] == Place{"unknown", {}, kNone});
  CHECK(fill_hosts(topology, 0).size() == 11);  // one for each core
  CHECK(fill_hosts(topology, 7)[6].cpus == std::vector<int>{0, 1, 2, 3, 4});
  topology.hosts[0].slots = 3;
  CHECK(fill_hosts(topology, 0).size() == 9);
  const Topology gpus = hosts_of(gpu_machine({}), 1);
  CHECK(fill_hosts(gpus, 0).size() == 8);
  CHECK(fill_hosts(gpus, 0)[5].gpu == 5);
  CHECK(fill_hosts(gpus, 9)[0].gpu == kNone);
}

TEST_CASE("places one by one") {
  const std::vector<std::string> texts{"a", "a:3,0-1", "b:gpu2"};
  CHECK(parse_places(texts).value() ==
        std::vector<Place>{{"a", {}, kNone}, {"a", {0, 1, 3}, kNone}, {"b", {}, 2}});
  for (const std::string text : {"a:x", "a:gpu", "a:gpu-1", "a:gpu1x", "a:gpu99999999999"}) {
    const auto places = parse_places(std::vector<std::string>{text});
    REQUIRE(!places.ok());
    CHECK_THAT(std::string(places.status().message()), Contains("--place " + text) && Contains("gpu"));
  }
}

TEST_CASE("the table of levels, and of the nearest cards") {
  Topology topology = hosts_of(gpu_machine({}), 1);
  topology.costs = {{"pcie", "nvlink", 1'500'000, 200'000'000'000}};
  const auto places = fill_hosts(topology, 0);
  CHECK(describe_levels(hierarchy(places, topology).value(), places, topology, 80) == R"(8 ranks at 2 levels

  level          groups  of     ranks
  pcie                2  4      0-3 | 4-7
                                over nvlink: 1.5 us, 200 Gb/s
  host                1  8      0-7
)");
  CHECK(describe_near_nics(places, topology, 80) == R"(
  nearest cards          at                    of ranks
  mlx5_0                 the same PCIe switch  0-3
  mlx5_1                 the same PCIe switch  4-7
)");
}

TEST_CASE("the table says what hosts get of the way between them") {
  Topology topology = hosts_of(even_machine(1, 1, 1, 1), 4);
  topology.machines[0].nics.push_back({"eth0", "", "", 100'000'000'000, 0, kNone, kNone});
  topology.levels = {"rack"};
  topology.groups = {{"r0", 0, kNone, 4}, {"r1", 0, kNone, 4}};
  for (std::size_t i = 0; i < 4; ++i) topology.hosts[i].group = static_cast<int>(i / 2);
  const auto places = one_rank_a_core(topology);
  CHECK(describe_levels(hierarchy(places, topology).value(), places, topology, 80) == R"(4 ranks at 2 levels

  level          groups  of     ranks
  rack                2  2      0-1 | 2-3
                                100 Gb/s a host, if all send
  cluster             1  4      0-3
                                25 Gb/s a host, if all send
)");
}

TEST_CASE("long tables are wrapped, and end") {
  const Topology topology = hosts_of(even_machine(1, 1, 1, 2), 300);
  const auto places = one_rank_a_core(topology);
  const std::string text = describe_levels(hierarchy(places, topology).value(), places, topology, 80);
  CHECK_THAT(text, Contains(".. and") && Contains(" more\n"));
  std::size_t longest = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    longest = std::max(longest, end - begin);
    CHECK((end == begin || text[end - 1] != ' '));
  }
  CHECK(longest <= 80);
}

}  // namespace
}  // namespace strata::topo::test
