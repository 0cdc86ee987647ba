// Levels that the user names.
#include <catch2/catch.hpp>

#include "tests/topology/examples.hpp"

namespace strata::topology::test {
namespace {

using Catch::Matchers::Contains;
using Groups = std::vector<std::vector<Rank>>;

// Two hosts with two packages of two cores; ranks in turn.
Topology two_hosts() { return hosts_of(even_machine(2, 1, 1, 2), 2); }

Hierarchy by_hand(std::string_view levels) {
  const Topology topology = two_hosts();
  auto made = hierarchy_by_hand(levels, one_rank_a_core(topology), topology);
  INFO(made.status().message());
  REQUIRE(made.ok());
  return *made;
}

std::string refused(std::string_view levels) {
  const Topology topology = two_hosts();
  const auto made = hierarchy_by_hand(levels, one_rank_a_core(topology), topology);
  REQUIRE(!made.ok());
  CHECK(made.status().code() == ErrorCode::invalid_argument);
  return std::string(made.status().message());
}

TEST_CASE("a shape groups ranks in their order, factors from the outside in") {
  const Hierarchy h = by_hand("2x4");
  REQUIRE(h.levels.size() == 2);
  CHECK(h.levels[0].groups == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(h.levels[1].groups == Groups{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK(by_hand("2x2x2").levels.size() == 3);
  CHECK(by_hand("1x8x1").levels.size() == 1);
}

TEST_CASE("every shape of the right size is nested blocks") {
  const Topology topology = hosts_of(even_machine(1, 1, 1, 1), 1);
  for (int outer = 1; outer <= 5; ++outer)
    for (int inner = 1; inner <= 5; ++inner) {
      const std::vector<Place> places(static_cast<std::size_t>(outer * inner), Place{"h0", {}, kNone});
      const auto h = hierarchy_by_hand(std::to_string(outer) + "x" + std::to_string(inner), places, topology);
      REQUIRE(h.ok());
      CHECK(h->levels.size() == static_cast<std::size_t>((outer > 1) + (inner > 1)));
      if (inner > 1) CHECK(h->levels[0].groups.size() == static_cast<std::size_t>(outer));
    }
}

TEST_CASE("named levels are those of the topology, the others are left out") {
  const Hierarchy h = by_hand("host");
  REQUIRE(h.levels.size() == 2);
  CHECK(h.levels[0].name == "host");
  CHECK(h.levels[0].groups == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(h.levels[1].name == "cluster");
  CHECK(by_hand("numa,host") == by_hand("host,numa"));
  CHECK(by_hand("numa").levels[0].groups == Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(by_hand("cluster").levels.size() == 1);
}

TEST_CASE("groups are what they are written as") {
  const Hierarchy h = by_hand("0-3,4-7;0-7");
  REQUIRE(h.levels.size() == 2);
  CHECK(h.levels[0].groups == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(by_hand("0-3,4-7").levels[1].groups == h.levels[1].groups);  // the one of all need not be written
  CHECK(by_hand("4+0,1+5,2,3+6-7").levels[0].groups == Groups{{0, 4}, {1, 5}, {2}, {3, 6, 7}});
  CHECK(by_hand("0,1,2,3,4,5,6,7").levels.size() == 1);
}

TEST_CASE("what makes no sense is refused by name, with the cure") {
  CHECK_THAT(refused("2x3"), Contains("'2x3'") && Contains("6 ranks") && Contains("must be 8"));
  CHECK_THAT(refused("3x99999999999"), Contains("'99999999999' is no number"));
  CHECK_THAT(refused("1000000x1000000x1000000"), Contains("more ranks"));
  CHECK_THAT(refused("0x8"), Contains("'0' is no number of groups"));
  CHECK_THAT(refused("2x"), Contains("'' is no number of groups"));
  CHECK_THAT(refused("nma,host"), Contains("no level 'nma'") && Contains("'numa'"));
  CHECK_THAT(refused(""), Contains("no level ''"));
  CHECK_THAT(refused("0-3,5-7"), Contains("lacks rank 4"));
  CHECK_THAT(refused("0-4,4-7"), Contains("rank 4 twice"));
  CHECK_THAT(refused("0-8"), Contains("has rank 8, and there are 8") && Contains("0 to 7"));
  CHECK_THAT(refused("0-3,7-4"), Contains("'7-4' is no rank"));
  CHECK_THAT(refused("0-3,4-7;0-5,6-7;0-7"), Contains("level '0-5,6-7' tears"));
}

}  // namespace
}  // namespace strata::topology::test
