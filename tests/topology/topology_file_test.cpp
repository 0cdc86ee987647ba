// Topology files: what is written is read as the same, and mistakes are named.
#include "ccl/topology/topology_file.hpp"

#include <catch2/catch.hpp>

#include "ccl/topology/discover.hpp"
#include "ccl/topology/import.hpp"
#include "ccl/topology/machine_text.hpp"
#include "tests/topology/examples.hpp"
#include "tests/topology/folder_tree.hpp"

namespace strata::topology::test {
namespace {

using Catch::Matchers::Contains;

Topology parsed(const std::string& text) {
  auto topology = parse_topology(text, "t.toml");
  INFO(topology.status().message());
  INFO(text);
  REQUIRE(topology.ok());
  return *topology;
}

void check_round_trip(const Topology& topology) {
  const std::string text = format_topology(topology);
  CHECK(parsed(text) == topology);
  CHECK(format_topology(parsed(text)) == text);
}

TEST_CASE("any topology is read as it was written") {
  const unsigned seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  check_round_trip(random_case(random).topology);
}

TEST_CASE("machines of all kinds are read as they were written") {
  for (const char* file :
       {"nccl_v100_cube_mesh", "nccl_a100_nvswitch", "nccl_cloud_vm", "hwloc_two_packages"}) {
    CAPTURE(file);
    check_round_trip(import_xml(std::string(STRATA_TOPOLOGY_DATA) + "/" + file + ".xml").value());
  }
  Topology here = discover().value().topology;
  check_round_trip(here);
  here.costs = {{"numa", "shm", 123'456, 80'000'000'001}, {"cluster", "tcp", 0, 0}};
  here.hosts[0].name = "na\"me\\ \t\u00e9";
  here.rails = {{"r", 1.1}};
  check_round_trip(here);
}

TEST_CASE("a machine is told to other hosts without what differs between those that are alike") {
  const unsigned seed = GENERATE(range(0u, 100u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (Machine machine : random_case(random).topology.machines) {
    const std::string text = machine_text(machine).value();
    Machine other = machine;
    other.name = "another";
    for (NumaNode& node : other.numa_nodes) node.memory_bytes += 4096;
    CHECK(machine_text(other).value() == text);
    Machine read = parse_machine_text(text).value();
    CHECK(machine_text(read).value() == text);
    read.name = machine.name;
    for (NumaNode& node : machine.numa_nodes) node.memory_bytes = 0;
    for (Nic& nic : machine.nics) nic.rail = kNone;
    CHECK(read == machine);
  }
  Machine huge;
  huge.gpus.resize(10'000);
  for (Gpu& gpu : huge.gpus) gpu.model = "a model with a name";
  CHECK(machine_text(huge).status().code() == ErrorCode::unavailable);
  CHECK(!parse_machine_text(std::string(kMachineBytesMax + 1, '#')).ok());
  CHECK(!parse_machine_text("[[host]]\nname = \"x\"\n").ok());
  CHECK(!parse_machine_text("x").ok());
}

TEST_CASE("the example of the format is right") {
  const Topology topology = parsed(kTopologyFileExample);
  REQUIRE(topology.hosts.size() == 16);
  CHECK(topology.hosts[9] == Host{"node09", 0, 8, 1});
  CHECK(topology.groups[1] == Group{"rack1", 0, 0, 2});
  CHECK(topology.machines[0].nics[0].rate == 100'000'000'000);
  CHECK(topology.machines[0].nics[0].rail == 0);
}

TEST_CASE("groups may come in any order, and tables in either way of TOML") {
  const Topology topology = parsed(R"(
    levels = ["rack", "row"]
    host = [{name = "a", in = "r"}]
    [[group]]
    name = "r"
    level = "rack"
    in = "w"
    [[group]]
    name = "w"
    level = "row"
  )");
  CHECK(topology.groups[0].parent == 1);
  CHECK(topology.hosts[0].group == 0);
}

struct Mistake {
  const char* text;
  int line;
  const char* what;
  const char* cure;
};

// Each follows a line of its own, so that line 2 is the first here.
constexpr Mistake kMistakes[] = {
    {"levels = [", 2, "this is no TOML", ""},
    {"hots = []", 2, "no key 'hots' in the file", "did you mean 'host'"},
    {"", 1, "there are no hosts", "add a [[host]]"},
    {"levels = [\"rack\", \"rack\"]", 2, "'rack', which is there twice", "another name"},
    {"levels = [\"numa\"]", 2, "'numa', which is a level that all", "another name"},
    {"levels = [1]", 2, "levels has 1", "texts in quotes"},
    {"levels = \"rack\"", 2, "levels = 'rack'", "a list of texts"},
    {"[[host]]\nname = \"a\"\nslot = 3", 4, "no key 'slot' in [[host]]", "did you mean 'slots'"},
    {"[[host]]\nname = \"a\"\nslots = 0", 4, "slots = 0", "from 1 to"},
    {"[[host]]\nname = \"a\"\nslots = \"8\"", 4, "slots = '8'", "a whole number"},
    {"[[host]]\nslots = 8", 2, "name is missing", "add name"},
    {"[[host]]\nname = \"\"", 3, "name = ''", "text in quotes"},
    {"[[host]]\nname = \"n[0-3]\"\n[[host]]\nname = \"n2\"", 5, "host 'n2' is there twice", "once"},
    {"[[host]]\nname = \"n[3-0]\"", 3, "'3-0' in 'n[3-0]'", "node[00-15]"},
    {"[[host]]\nname = \"a\"\nin = \"rack1\"", 4, "there is no [[group]] of that name", "add it"},
    {"[[host]]\nname = \"a\"\nmachine = \"boy\"\n[[machine]]\nname = \"box\"", 4,
     "no [[machine]] of that name", "did you mean 'box'"},
    {"[[group]]\nname = \"a\"\nlevel = \"rack\"", 4, "no level (of 'levels')", "add it"},
    {"[[rail]]\nname = \"a\"\noversubscription = 0", 4, "oversubscription = 0",
     "1 (all may send at once) or more"},
    {"[[rail]]\nname = \"a\"\noversubscription = nan", 4, "oversubscription", "or more"},
    {"[[machine]]\nname = \"a\"\n[[machine]]\nname = \"a\"", 4, "one of that name already", "another"},
    {"[[machine]]\nname = \"a\"\nnics = [{name = \"e\", rate = \"0 Gb/s\"}]", 4, "rate = '0 Gb/s'",
     "above 0"},
    {"[[machine]]\nname = \"a\"\nnics = [{name = \"e\", rate = 100}]", 4, "rate = 100", "text in quotes"},
    {"[[machine]]\nname = \"a\"\nnics = [{name = \"e\", rate = \"100 Gbit\"}]", 4, "rate = '100 Gbit'",
     "Gb/s"},
    {"[[machine]]\nname = \"a\"\nnics = [{name = \"e\", rail = \"r\"}]", 4, "rail = 'r'", "add it"},
    {"[[machine]]\nname = \"a\"\nnics = [{name = \"e\", numa = 0}]", 4, "numa = 0", "nothing to choose from"},
    {"[[machine]]\nname = \"a\"\nnics = [3]", 4, "nics has 3", "a list of tables"},
    {"[[machine]]\nname = \"a\"\ncores = [{cpus = [\"0-1\", \"1\"]}]", 4, "CPU 1 is in two cores",
     "into one"},
    {"[[machine]]\nname = \"a\"\ncores = [{cpus = [\"x\"]}]", 4, "'x'", "0-3,8"},
    {"[[machine]]\nname = \"a\"\ngpus = [{model = \"x\"}]", 4, "address is missing", "add address"},
    {"[[machine]]\nname = \"a\"\ngpus = [{address = \"7\"}]", 4, "address = '7'", "0000:07:00.0"},
    {"[[machine]]\nname = \"a\"\ngpus = [{address = \"1:0.0\"}, {address = \"01:00.0\"}]", 4,
     "two GPUs at 0000:01:00.0", "its own"},
    {"[[machine]]\nname = \"a\"\ngpus = [{address = \"1:0.0\"}]\ngpu_links = [{gpu = 0, to = 0}]", 5,
     "linked to itself", "another"},
    {"[[machine]]\nname = \"a\"\ngpus = [{address = \"1:0.0\"}]\ngpu_links = [{gpu = 0, to = 1}]", 5,
     "to = 1", "from 0 to 0"},
    {"[[machine]]\nname = \"a\"\npcie_switches = [{address = \"1:0.0\", parent = \"0000:02:00.0\"},\n"
     "{address = \"2:0.0\", parent = \"0000:01:00.0\"}]",
     4, "hangs on itself", "take one"},
    {"[[cost]]\nlevel = \"numma\"\nmedium = \"shm\"", 3, "no level of that name", "did you mean 'numa'"},
    {"[[cost]]\nlevel = \"numa\"\nmedium = \"shm\"\nlatency = \"0 ns\"", 5, "latency = '0 ns'", "above 0"},
};

TEST_CASE("mistakes in a topology file are named by file, line and value, with the cure") {
  for (const Mistake& mistake : kMistakes) {
    const auto read = parse_topology("# a comment\n" + std::string(mistake.text), "t.toml");
    CAPTURE(mistake.text);
    REQUIRE(!read.ok());
    CHECK(read.status().code() == ErrorCode::invalid_argument);
    const std::string message(read.status().message());
    CHECK_THAT(message, Catch::Matchers::StartsWith("t.toml:" + std::to_string(mistake.line) + ": "));
    CHECK_THAT(message, Contains(mistake.what) && Contains(mistake.cure));
  }
}

TEST_CASE("groups that are in themselves, or in a lower level") {
  const auto refused = [](const std::string& groups) {
    const auto read =
        parse_topology("levels = [\"rack\", \"row\"]\n" + groups + "[[host]]\nname = \"h\"", "t.toml");
    REQUIRE(!read.ok());
    return std::string(read.status().message());
  };
  const auto group = [](const std::string& name, const std::string& level, const std::string& in) {
    return "[[group]]\nname = \"" + name + "\"\nlevel = \"" + level + "\"\nin = \"" + in + "\"\n";
  };
  CHECK_THAT(refused(group("a", "rack", "b") + group("b", "row", "a")),
             Contains("t.toml:5: ") && Contains("a in b in a") && Contains("take one 'in' away"));
  CHECK_THAT(refused(group("a", "rack", "a")), Contains("a in a"));
  CHECK_THAT(refused(group("x", "rack", "a") + group("a", "rack", "b") + group("b", "row", "a")),
             Contains("a in b in a"));
  CHECK_THAT(refused(group("a", "row", "b") + group("b", "rack", "c") +
                     "[[group]]\nname = \"c\"\nlevel = \"row\"\n"),
             Contains("'a' is a row and in 'b', which is a rack"));
}

TEST_CASE("files that cannot be read") {
  const FolderTree tree;
  CHECK_THAT(std::string(read_topology("/no/such.toml").status().message()),
             Contains("cannot read /no/such.toml"));
  CHECK(read_topology(tree.write("t.toml", "[[host]]\nname = \"h\"\n")).value().hosts[0].name == "h");
}

}  // namespace
}  // namespace strata::topology::test
