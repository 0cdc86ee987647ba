// What strata-run --lab asks for: shapes, where ranks go, and what the lab is started with.
#include <catch2/catch.hpp>

#include "tools/strata_run/lab.hpp"
#include "tools/strata_run/placement.hpp"
#include "tools/strata_run/plan.hpp"

using namespace strata;
using namespace strata::run;

namespace {

using Words = std::vector<std::string>;

LabOptions lab_of(const std::string& shape) {
  const auto parsed = parse_lab_shape(shape);
  INFO(shape);
  REQUIRE(parsed);
  LabOptions lab;
  lab.shape = *parsed;
  return lab;
}

Options options_of(const std::string& shape, bool round_robin) {
  Options options;
  options.lab = lab_of(shape);
  options.lab->round_robin = round_robin;
  for (const int ranks : options.lab->shape.ranks) options.ranks += ranks;
  return options;
}

// "host.local rank/local size" of each rank.
Words places(const std::string& shape, bool round_robin) {
  const Options options = options_of(shape, round_robin);
  Words all;
  for (int r = 0; r < options.ranks; ++r) {
    const Place p = place_of(options, r);
    all.push_back(std::to_string(p.host) + "." + std::to_string(p.local_rank) + "/" +
                  std::to_string(p.local_size));
  }
  return all;
}

}  // namespace

TEST_CASE("the shape of a lab: ranks of each host, and rates of each of their rails") {
  CHECK(lab_of("2x4").shape.ranks == std::vector<int>{4, 4});
  CHECK(lab_of("2x4").shape.rates.empty());
  CHECK(lab_of("3+5@1gbit").shape.ranks == std::vector<int>{3, 5});
  CHECK(lab_of("7").shape.ranks == std::vector<int>{7});
  CHECK(lab_of("16x1@1gbit").shape.rates == std::vector<Words>(16, Words{"1gbit"}));
  CHECK(lab_of("2x1@1gbit,none").shape.rates == std::vector<Words>{{"1gbit"}, {"none"}});
  CHECK(lab_of("2x1@1gbit:none").shape.rates == std::vector<Words>(2, {"1gbit", "none"}));
  CHECK(lab_of("1+2@1gbit:a,b:c").shape.rates == std::vector<Words>{{"1gbit", "a"}, {"b", "c"}});
}

TEST_CASE("a shape that is none is refused, with one that is") {
  for (const std::string text : {"", "x", "2x", "x2", "2y4", "0x1", "1x0", "17x1", "2x100", "-1x2", "2x4x2",
                                 "3+", "+3", "3+0", "2 x4", "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1", "@1gbit"}) {
    const auto shape = parse_lab_shape(text);
    CAPTURE(text);
    REQUIRE_FALSE(shape);
    CHECK(std::string(shape.status().message()).find("as in 2x4, nor the ranks of each host, as in 3+5") !=
          std::string::npos);
  }
  const auto message = [](const std::string& text) {
    return std::string(parse_lab_shape(text).status().message());
  };
  CHECK(message("3x2@1gbit,2gbit").find("there are 3 hosts and rates for 2") != std::string::npos);
  CHECK(message("2x2@1gbit:1gbit,2gbit").find("has 2 rails and another 1") != std::string::npos);
}

TEST_CASE("ranks fill one host after the other, or go from host to host") {
  CHECK(places("2x2", false) == Words{"0.0/2", "0.1/2", "1.0/2", "1.1/2"});
  CHECK(places("2x2", true) == Words{"0.0/2", "1.0/2", "0.1/2", "1.1/2"});
  CHECK(places("1+3", false) == Words{"0.0/1", "1.0/3", "1.1/3", "1.2/3"});
  CHECK(places("1+3+2", true) == Words{"0.0/1", "1.0/3", "2.0/2", "1.1/3", "2.1/2", "1.2/3"});
  Options no_lab;
  no_lab.ranks = 3;
  CHECK(place_of(no_lab, 2).local_rank == 2);
  CHECK(place_of(no_lab, 2).local_size == 3);
}

TEST_CASE("the lab is started with what was asked for") {
  LabOptions lab = lab_of("2x4@1gbit:none");
  CHECK(lab_arguments(lab, 42) == Words{"strata-lab", "up", "--attached", "--name", "run-42", "--hosts", "2",
                                        "--rails", "2", "--rate", "host0.rail0=1gbit", "--rate",
                                        "host0.rail1=none", "--rate", "host1.rail0=1gbit", "--rate",
                                        "host1.rail1=none"});
  lab = lab_of("4x1");
  lab.name = "mine";
  lab.racks = 2;
  lab.uplink = "2gbit";
  lab.delay = "50us";
  CHECK(lab_arguments(lab, 42) == Words{"strata-lab", "up", "--attached", "--name", "mine", "--hosts", "4",
                                        "--racks", "2", "--uplink", "2gbit", "--delay", "50us"});
}

TEST_CASE("cores are shared among the ranks of all hosts of a lab, which are one machine's") {
  const Options options = options_of("2x2", true);
  Job job;
  job.cores = {0, 1, 2, 3};
  for (int r = 0; r < 4; ++r) CHECK(cores_of(options, job, r) == std::vector<int>{r});
  job.cores = {0, 1};
  CHECK(cores_of(options, job, 3).empty());
}
