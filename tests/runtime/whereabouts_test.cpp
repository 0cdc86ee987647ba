// Where ranks sit: what they tell each other is read as it was written, and all come to the same levels.
#include "ccl/runtime/whereabouts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "ccl/runtime/place_report.hpp"
#include "ccl/topology/cpu_list.hpp"
#include "tests/topology/examples.hpp"

namespace strata::test {
namespace {

using namespace topology;
using topology::test::even_machine;
using topology::test::random_case;

std::string random_text(std::mt19937& random) {
  std::string text(random() % 20, '\0');
  for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? ":0129\n"[random() % 6] : random());
  return text;
}

PlaceReport random_report(std::mt19937& random) {
  return {static_cast<int>(random() % 5) - 1,
          random_text(random),
          random_text(random),
          random_text(random),
          random_text(random),
          random_text(random)};
}

// What the ranks of a case know of each other, with a host id for each host.
std::vector<Seat> seats_of(const std::vector<Place>& places) {
  std::vector<Seat> seats;
  for (const Place& p : places) seats.push_back({p.host, "id of " + p.host, format_cpu_list(p.cpus), p.gpu});
  return seats;
}

// Of each host of the seats, in the order of first ranks: the topology's.
std::vector<std::optional<Machine>> machines_of(const std::vector<Place>& places, const Topology& topology) {
  std::vector<std::string> seen;
  std::vector<std::optional<Machine>> machines;
  for (const Place& place : places) {
    if (std::find(seen.begin(), seen.end(), place.host) != seen.end()) continue;
    seen.push_back(place.host);
    const auto host = std::find_if(topology.hosts.begin(), topology.hosts.end(),
                                   [&](const topology::Host& h) { return h.name == place.host; });
    machines.emplace_back();
    if (host->machine != kNone) machines.back() = topology.machines[static_cast<std::size_t>(host->machine)];
  }
  return machines;
}

std::vector<std::string> names(const Hierarchy& hierarchy) {
  std::vector<std::string> all;
  for (const Level& level : hierarchy.levels) all.push_back(level.name);
  return all;
}

// Four ranks, two on each of two hosts in turn, each on a NUMA node of its own.
std::vector<Seat> four() {
  return {{"a", "ia", "0-1", kNone},
          {"b", "ib", "0-1", kNone},
          {"a", "ia", "2-3", kNone},
          {"b", "ib", "2-3", kNone}};
}

TopologyFile file_of(std::string_view text) {
  auto file = parse_topology_file(text, "t.toml");
  INFO(file.status().message());
  REQUIRE(file.ok());
  return *file;
}

constexpr std::string_view kRacks = R"(levels = ["rack"]
[[group]]
name = "r0"
level = "rack"
[[group]]
name = "r1"
level = "rack"
[[host]]
name = "a"
in = "r0"
slots = 2
[[host]]
name = "b"
in = "r1"
)";

}  // namespace

TEST_CASE("reports are read as they were written, and broken ones are not") {
  const unsigned seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const PlaceReport report = random_report(random);
  const std::string text = to_text(report);
  REQUIRE(parse_place_report(text) == report);
  for (std::size_t length = 0; length < text.size(); ++length)
    CHECK(!parse_place_report(text.substr(0, length)));
  CHECK(!parse_place_report(text + "0:"));
  for (int i = 0; i < 50; ++i) {
    std::string broken = text;
    broken[random() % broken.size()] = static_cast<char>(random());
    if (const auto read = parse_place_report(broken)) CHECK(to_text(*read) == broken);
  }
}

TEST_CASE("what hosts say of themselves gives the levels that their topology has") {
  const unsigned seed = GENERATE(range(0u, 200u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  auto c = random_case(random);
  std::shuffle(c.places.begin(), c.places.end(), random);
  for (topology::Host& host : c.topology.hosts) host.slots = 0;
  // What is stated of groups comes from a file that leaves all machines open.
  Topology groups = c.topology;
  groups.machines.clear();
  for (topology::Host& host : groups.hosts) host.machine = kNone;
  const TopologyFile file{"t.toml", groups, std::vector<int>(groups.hosts.size(), 1)};
  const auto seats = seats_of(c.places);
  const auto found = whereabouts(seats, machines_of(c.places, c.topology), &file, "");
  INFO(found.status().message());
  REQUIRE(found.ok());
  CHECK(found->natural == hierarchy(c.places, c.topology).value());
  CHECK(found->levels == found->natural);
  CHECK(found->host == number_hosts(seats));
}

TEST_CASE("ranks of one host are together whatever is not known") {
  const Machine machine = even_machine(1, 2, 1, 2);
  const std::optional<Machine> known(machine), unknown;
  const auto both = whereabouts(four(), std::vector{known, known}, nullptr, "");
  REQUIRE(both.ok());
  CHECK(names(both->natural) == std::vector<std::string>{"package", "cluster"});  // each is alone on its node
  CHECK(both->topology.machines.size() == 1);
  const auto seats = [] {
    std::vector<Seat> all = four();
    for (Seat seat : four()) all.push_back(seat);
    return all;
  }();
  CHECK(names(whereabouts(seats, std::vector{known, known}, nullptr, "")->natural) ==
        std::vector<std::string>{"l3", "package", "cluster"});
  const auto none = whereabouts(seats, std::vector{unknown, unknown}, nullptr, "");
  CHECK(names(none->natural) == std::vector<std::string>{"host", "cluster"});
  const auto one = whereabouts(seats, std::vector{known, unknown}, nullptr, "");
  CHECK(one->natural.levels[0].groups == std::vector<std::vector<Rank>>{{0, 4}, {1}, {2, 6}, {3}, {5}, {7}});
}

TEST_CASE("CPUs and GPUs that make no sense are not known") {
  std::vector<Seat> seats = four();
  seats[0].cpus = "0-";
  seats[1].gpu = 7;
  const auto found = whereabouts(seats, std::vector<std::optional<Machine>>(2), nullptr, "");
  REQUIRE(found.ok());
  CHECK(found->places[0].cpus.empty());
  CHECK(found->places[1].gpu == kNone);
}

TEST_CASE("hosts of one name are hosts of their own, but not for a file") {
  std::vector<Seat> seats = four();
  for (Seat& seat : seats) seat.host = "a";
  const std::vector<std::optional<Machine>> machines(2);
  const auto found = whereabouts(seats, machines, nullptr, "");
  REQUIRE(found.ok());
  CHECK(found->places[1].host == "a (2)");
  CHECK(found->natural.levels[0].groups == std::vector<std::vector<Rank>>{{0, 2}, {1, 3}});
  const TopologyFile file = file_of(kRacks);
  const auto refused = whereabouts(seats, machines, &file, "");
  CHECK(refused.status().code() == ErrorCode::mismatch);
  CHECK(std::string(refused.status().message())
            .starts_with("t.toml: rank 0 and rank 1 are on different hosts"));
}

TEST_CASE("levels by hand are used, and the natural ones are known beside them") {
  const std::vector<std::optional<Machine>> machines(2);
  const auto shape = whereabouts(four(), machines, nullptr, "2x2");
  REQUIRE(shape.ok());
  CHECK(shape->levels.levels[0].groups == std::vector<std::vector<Rank>>{{0, 1}, {2, 3}});
  CHECK(shape->natural.levels[0].groups == std::vector<std::vector<Rank>>{{0, 2}, {1, 3}});
  CHECK(whereabouts(four(), machines, nullptr, "cluster")->levels.levels.size() == 1);
  CHECK(whereabouts(four(), machines, nullptr, "2x3").status().code() == ErrorCode::invalid_argument);
}

TEST_CASE("a file's hosts must be the job's, and mistakes have a line") {
  const TopologyFile file = file_of(kRacks);
  const std::vector<std::optional<Machine>> machines(2);
  std::vector<Seat> seats = four();
  REQUIRE(whereabouts(seats, machines, &file, "").ok());
  CHECK(names(whereabouts(seats, machines, &file, "")->natural) ==
        std::vector<std::string>{"host", "cluster"});
  seats.push_back(seats[0]);
  CHECK(std::string(whereabouts(seats, machines, &file, "").status().message()) ==
        "t.toml:8: host 'a' has slots = 2, and 3 ranks of the job are there; start fewer there, or raise its "
        "slots");
  seats = four();
  seats[1].host = seats[3].host = "bb";
  CHECK(std::string(whereabouts(seats, machines, &file, "").status().message()) ==
        "t.toml:12: rank 1 is on host 'bb', which the file does not have; if it is 'b' of this line, correct "
        "that, "
        "else add a [[host]] with name = \"bb\"");
}

TEST_CASE("a file's machine is taken as it is, and one of which it says only the NICs is completed") {
  const TopologyFile file = file_of(R"(
[[rail]]
name = "left"
[[machine]]
name = "nics"
nics = [{name = "eth0", rate = "10 Gb/s", rail = "left"}]
[[machine]]
name = "all"
numa_nodes = [{number = 0}, {number = 1}]
cores = [{numa = 0, cpus = ["0", "1"]}, {numa = 1, cpus = ["2", "3"]}]
[[host]]
name = "a"
machine = "nics"
[[host]]
name = "b"
machine = "all"
)");
  CHECK(is_open(&file, "a"));
  CHECK(!is_open(&file, "b"));
  Machine here = even_machine(2, 2, 2, 4);
  here.nics.push_back({"eth0", "", "", 1, kNone, kNone, kNone, 0});
  here.nics.push_back({"eth1", "", "", 1, kNone, kNone, kNone, 0});
  const auto found = whereabouts(four(), std::vector<std::optional<Machine>>{here, std::nullopt}, &file, "");
  REQUIRE(found.ok());
  const auto machine_of = [&](std::size_t host) {
    return found->topology.machines[static_cast<std::size_t>(found->topology.hosts[host].machine)];
  };
  CHECK(machine_of(0).cores == here.cores);
  REQUIRE(machine_of(0).nics.size() == 1);
  CHECK(machine_of(0).nics[0].rate == 10'000'000'000);
  CHECK(machine_of(0).nics[0].rail == 0);
  CHECK(machine_of(1).name == "all");
}

}  // namespace strata::test
