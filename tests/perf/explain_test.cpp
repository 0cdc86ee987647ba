// What is said about a choice.
#include "tools/strata_perf/explain.hpp"

#include <catch2/catch.hpp>
#include <sstream>

namespace strata::perf {
namespace {

std::vector<Explained> example() {
  return {{{"ring", 1 << 18, 12.5, true}, 15.0},
          {{"chain", 1 << 16, 20.0, false}, std::nullopt},
          {{"chain", 1 << 18, 30.0, false}, 12.0},
          {{"shared_memory", 0, -1, false}, std::nullopt}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool has(const std::string& line, const std::string& part) { return line.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("predictions are listed, the chosen one marked, and no line is a row") {
  const auto lines = lines_of(before_text(4096, example()));
  REQUIRE(lines.size() == 6);
  for (const std::string& line : lines) CHECK(line.starts_with("#"));
  CHECK(has(lines[1], "4096 bytes"));
  CHECK((has(lines[2], "* ring") && has(lines[2], "12.50")));
  CHECK((has(lines[3], "chain, pieces of 64K") && has(lines[4], "chain, pieces of 256K")));
  CHECK(!has(lines[4], "*"));
  CHECK(lines[5].ends_with(" -"));
}

TEST_CASE("measured times stand beside the predictions, and the choice is judged") {
  const auto lines = lines_of(after_text(example()));
  REQUIRE(lines.size() == 4);
  CHECK((has(lines[1], "* ring") && has(lines[1], "12.50") && has(lines[1], "15.00")));
  CHECK((has(lines[2], "chain, pieces of 256K") && has(lines[2], "12.00")));
  CHECK(lines[3] == "# chosen ring: 1.25 x the best measured (chain, pieces of 256K)");
}

TEST_CASE("one time alone is not judged, and no candidates are nothing to say") {
  std::vector<Explained> all = example();
  all[2].measured_us.reset();
  CHECK(lines_of(after_text(all)).size() == 2);
  CHECK(before_text(8, {}).empty());
  CHECK(after_text({}).empty());
}

TEST_CASE("collectives are explained, other tests are not") {
  int explained = 0;
  for (const TestCase& test : test_cases()) {
    const auto collective = collective_of(test);
    if (!collective) continue;
    ++explained;
    CHECK(to_string(*collective) == test.name);
    CHECK(!test.uneven);
  }
  CHECK(explained == 9);
}

}  // namespace strata::perf
