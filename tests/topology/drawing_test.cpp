// Drawings of any topology: in the terminal they stay within their width, in pictures boxes stay within
// boxes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "ccl/topology/import.hpp"
#include "tests/topology/examples.hpp"
#include "tools/strata_topo/diagram.hpp"
#include "tools/strata_topo/gpu_links.hpp"
#include "tools/strata_topo/svg_drawing.hpp"
#include "tools/strata_topo/svg_layout.hpp"
#include "tools/strata_topo/text_drawing.hpp"

namespace strata::topo::test {
namespace {

using namespace topology;
using namespace topology::test;
using Catch::Matchers::Contains;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines.push_back(line);
  return lines;
}

int count(const Box& box, Kind kind) {
  int found = box.kind == kind ? 1 : 0;
  for (const Box& child : box.children) found += count(child, kind);
  return found;
}

void check_within(const Placed& placed) {
  constexpr double kHair = 0.01;
  for (std::size_t i = 0; i < placed.children.size(); ++i) {
    const Placed& child = placed.children[i];
    CHECK(child.x >= placed.x);
    CHECK(child.y >= placed.y);
    CHECK(child.x + child.width <= placed.x + placed.width + kHair);
    CHECK(child.y + child.height <= placed.y + placed.height + kHair);
    for (std::size_t j = 0; j < i; ++j) {
      const Placed& other = placed.children[j];
      const bool apart =
          child.x + kHair >= other.x + other.width || other.x + kHair >= child.x + child.width ||
          child.y + kHair >= other.y + other.height || other.y + kHair >= child.y + child.height;
      CHECK(apart);
    }
    check_within(child);
  }
}

TEST_CASE("every core and device of a machine is in its diagram once") {
  const unsigned seed = GENERATE(range(0u, 100u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const Machine& machine : random_case(random).topology.machines) {
    const Box box = machine_diagram(machine);
    CHECK(count(box, Kind::core) == static_cast<int>(machine.cores.size()));
    CHECK(count(box, Kind::gpu) == static_cast<int>(machine.gpus.size()));
    CHECK(count(box, Kind::nic) == static_cast<int>(machine.nics.size()));
    CHECK(count(box, Kind::pcie_switch) == static_cast<int>(machine.pcie_switches.size()));
  }
}

TEST_CASE("every host is in the cluster's diagram once") {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const Topology topology = random_case(random).topology;
    CHECK(count(cluster_diagram(topology), Kind::host) == static_cast<int>(topology.hosts.size()));
    CHECK(count(cluster_diagram(topology), Kind::group) == static_cast<int>(topology.groups.size()));
  }
}

TEST_CASE("drawings in the terminal keep to the width, and their frames are whole") {
  const unsigned seed = GENERATE(range(0u, 100u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  Topology topology = random_case(random).topology;
  for (Machine& machine : topology.machines) machine.gpu_links.clear();  // the table beside is no frame
  for (const int width : {80, 100, 160}) {
    const std::string text = draw_text(topology, {width, true});
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    int framed = 0;
    for (const std::string& line : lines_of(text)) {
      CHECK(line.size() <= static_cast<std::size_t>(width));
      if (line.empty()) framed = 0;
      if (line.empty()) continue;
      const int columns_of_line = static_cast<int>(line.size());
      if (framed == 0 || line[0] == '+') framed = columns_of_line;
      CHECK(columns_of_line == framed);
      CHECK((line[0] == '+' || line[0] == '|'));
      CHECK(line.front() == line.back());
    }
  }
}

TEST_CASE("a terminal with lines has the same columns as one without") {
  const Topology topology = hosts_of(gpu_machine({}), 3);
  const auto lines = lines_of(draw_text(topology, {80, false})),
             ascii = lines_of(draw_text(topology, {80, true}));
  REQUIRE(lines.size() == ascii.size());
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(columns(lines[i]) == columns(ascii[i]));
}

TEST_CASE("in pictures boxes are within boxes, and do not overlap") {
  const unsigned seed = GENERATE(range(0u, 40u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Topology topology = random_case(random).topology;
  for (const Machine& machine : topology.machines) {
    const Box box = machine_diagram(machine);
    check_within(layout(box));
    check_within(layout(box, 900));
    CHECK(layout(box, 900).width >= 900);
  }
  const Box cluster = cluster_diagram(topology);
  check_within(layout(cluster));
}

TEST_CASE("pictures are XML, whatever the names are") {
  Topology topology = hosts_of(gpu_machine({{0, 1, 100}, {2, kNone, 0}}), 2);
  topology.machines[0].nics[0].name = "<&>\"\x01'";
  topology.hosts[1].name = "a<b";
  pugi::xml_document document;
  REQUIRE(document.load_string(draw_svg(topology).c_str()));
  CHECK(std::string_view(document.document_element().name()) == "svg");
  CHECK_THAT(draw_svg(topology), Contains("&lt;&amp;&gt;\"?'") && Contains("a&lt;b"));
}

TEST_CASE("links between GPUs: a table of rates, or a sentence") {
  const Machine mesh =
      import_xml(std::string(STRATA_TOPOLOGY_DATA) + "/nccl_v100_cube_mesh.xml")->machines[0];
  CHECK_THAT(describe_gpu_links(mesh),
             Contains("in Gb/s") && Contains("   0    -  200  200  400  400    .    .    .\n"));
  const Machine switched =
      import_xml(std::string(STRATA_TOPOLOGY_DATA) + "/nccl_a100_nvswitch.xml")->machines[0];
  CHECK(describe_gpu_links(switched) == "GPUs 0-7 reach each other through a switch, at 2.4 Tb/s each\n");
  CHECK(describe_gpu_links(gpu_machine({})).empty());
}

}  // namespace
}  // namespace strata::topo::test
