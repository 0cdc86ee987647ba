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

TEST_CASE("levels are listed with their links and ranks, as far as a line goes") {
  CHECK(levels_text({}).empty());
  const std::vector<LevelEstimate> levels = {
      {"numa", {{0, 1, 2, 5}, {3, 4}}, "shm", 0.45, 78, true, true},
      {"host", {{0, 1, 2, 5}, {3, 4, 6}}, "shm", 0.5, 70, false, false},
      {"cluster", {{0, 1, 2, 3, 4, 5, 6}}, "tcp", 15, 9.4, true, true},
      {"level1", {{0, 6}, {1, 2, 3, 4, 5}}, "", -1, -1, false, true},
  };
  auto lines = lines_of(levels_text(levels));
  REQUIRE(lines.size() == 6);
  for (const std::string& line : lines) CHECK(line.starts_with("#"));
  CHECK((has(lines[2], "numa") && has(lines[2], "0.45") && has(lines[2], "78.00")));
  CHECK(lines[2].ends_with("measured  0-2,5 | 3-4"));
  CHECK(lines[3].ends_with("built-in  0-2,5 | 3-4,6  (no algorithm's level)"));
  CHECK(lines[4].ends_with("measured  0-6"));
  CHECK(lines[5].ends_with("by hand   0,6 | 1-5"));
  std::vector<std::vector<Rank>> many;
  for (Rank r = 0; r < 100; ++r) many.push_back({r});
  lines = lines_of(levels_text({{"host", many, "shm", 1, 1, true, true}}));
  CHECK(lines[2].ends_with("| ..."));
  CHECK(lines[2].size() < 130);
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
