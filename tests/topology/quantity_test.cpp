// Quantities and names as text.
#include "ccl/topology/quantity.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "ccl/topology/host_names.hpp"

namespace strata::topology::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("quantities are read exactly") {
  CHECK(parse_quantity("100 Gb/s", rate_units()) == 100'000'000'000);
  CHECK(parse_quantity("2.5Gb/s", rate_units()) == 2'500'000'000);
  CHECK(parse_quantity("12.5 GB/s", rate_units()) == 100'000'000'000);
  CHECK(parse_quantity("0 b/s", rate_units()) == 0);
  CHECK(parse_quantity("1.5 us", time_units()) == 1'500'000);
  CHECK(parse_quantity("0.000000001 TiB", size_units()) == std::nullopt);
  CHECK(parse_quantity("0.5 KiB", size_units()) == 512);
}

TEST_CASE("what is no quantity") {
  for (const char* text :
       {"", "Gb/s", "1", "1 gb/s", "-1 Gb/s", "1  Gb/s", "1.2.3 Gb/s", ". Gb/s", "1. Gb/s", "1.5 b/s",
        "0.0000000001 Tb/s", "99999999999999999999 b/s", "18446744073709551615 kb/s", "1e3 Gb/s"})
    CHECK(!parse_quantity(text, rate_units()));
}

TEST_CASE("what is written is read as the same") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t value = random() >> (i % 60);
    if (i % 3 == 0) value = value / 1'000'000 * 1'000'000;
    for (const auto units : {rate_units(), size_units(), time_units()})
      CHECK(parse_quantity(format_quantity(value, units), units) == value);
  }
  CHECK(format_quantity(2'500'000'000, rate_units()) == "2500 Mb/s");
  CHECK(format_quantity(std::uint64_t{1} << 34, size_units()) == "16 GiB");
  CHECK(format_quantity(0, size_units()) == "0 B");
  CHECK(parse_quantity(format_quantity(std::numeric_limits<std::uint64_t>::max(), rate_units()),
                       rate_units()) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("rates for people") {
  CHECK(rounded_rate(2'400'000'000'000) == "2.4 Tb/s");
  CHECK(rounded_rate(126'030'769'230) == "126 Gb/s");
  CHECK(rounded_rate(999) == "999 b/s");
  CHECK(rounded_rate(0) == "0 b/s");
}

TEST_CASE("one name for many hosts") {
  using Names = std::vector<std::string>;
  CHECK(expand_names("host").value() == Names{"host"});
  CHECK(expand_names("n[8-11]").value() == Names{"n8", "n9", "n10", "n11"});
  CHECK(expand_names("n[08-09,3]-ib").value() == Names{"n08-ib", "n09-ib", "n3-ib"});
  CHECK(expand_names("[1]").value() == Names{"1"});
  for (const char* text : {"n[]", "n[", "n]", "n]0[", "n[0-]", "n[-1]", "n[a-b]", "n[0][1]", "n[0[1]]",
                           "n[0,,1]", "n[2-1]", "n[0-99999999]", "n[0-99999999999]", "n[0 -1]"}) {
    CAPTURE(text);
    const auto read = expand_names(text);
    REQUIRE(!read.ok());
    CHECK_THAT(std::string(read.status().message()), Contains(text) && Contains("node[00-15]"));
  }
}

}  // namespace
}  // namespace strata::topology::test
