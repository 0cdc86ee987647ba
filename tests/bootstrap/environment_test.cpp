// Laws of the one reader of the environment, and of the words it suggests.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ccl/base/environment.hpp"
#include "ccl/base/nearest.hpp"

using namespace strata;

namespace {

Environment with(std::vector<std::string> assignments) { return Environment(assignments); }

std::string random_word(std::mt19937& random) {
  std::string word(random() % 7, 'a');
  for (char& c : word) c = static_cast<char>('a' + random() % 3);
  return word;
}

}  // namespace

TEST_CASE("the edit distance is a symmetric measure, and one edit is at distance one") {
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 500; ++i) {
    const std::string a = random_word(random), b = random_word(random);
    CAPTURE(a, b);
    CHECK(edit_distance(a, b) == edit_distance(b, a));
    CHECK((edit_distance(a, b) == 0) == (a == b));
    CHECK(edit_distance(a, b) <= std::max(a.size(), b.size()));
    CHECK(edit_distance(a, b) >= std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
    std::string edited = a;
    edited.insert(random() % (a.size() + 1), 1, 'z');
    CHECK(edit_distance(a, edited) == 1);
    if (a.size() < 2) continue;
    std::string swapped = a;
    const std::size_t at = random() % (a.size() - 1);
    std::swap(swapped[at], swapped[at + 1]);
    CHECK(edit_distance(a, swapped) == (a == swapped ? 0u : 1u));
  }
}

TEST_CASE("every STRATA_ variable is found again from any one-letter slip") {
  std::vector<std::string_view> names;
  for (const Variable& v : known_variables())
    if (v.name.starts_with("STRATA_")) names.push_back(v.name);
  REQUIRE(names.size() >= 11);
  for (const std::string_view name : names)
    for (std::size_t i = 7; i < name.size(); ++i) {
      std::string slip(name);
      slip.erase(i, 1);
      CAPTURE(slip);
      CHECK(nearest(slip, names) == name);
      const Status status = with({slip + "=1"}).check_names();
      REQUIRE(status.code() == ErrorCode::invalid_argument);
      CHECK(status.message().find(slip + " ") != std::string_view::npos);
      CHECK(status.message().find("mean " + std::string(name) + "?") != std::string_view::npos);
    }
}

TEST_CASE("known names and strangers without the prefix are accepted") {
  std::vector<std::string> all = {"PATH=/bin", "STRATA=1", "XSTRATA_FOO=1", "WITHOUT_EQUALS"};
  for (const Variable& v : known_variables()) all.push_back(std::string(v.name) + "=1");
  CHECK(with(all).check_names().ok());
}

TEST_CASE("each variable is listed once, with a form and a description") {
  std::set<std::string_view> seen;
  const std::string text = describe_variables();
  for (const Variable& v : known_variables()) {
    CAPTURE(v.name);
    CHECK(seen.insert(v.name).second);
    CHECK_FALSE(v.description.empty());
    CHECK(v.description.find('\n') == std::string_view::npos);
    CHECK((v.kind == Variable::Kind::number ? v.min < v.max
                                            : v.kind == Variable::Kind::flag || !v.form.empty()));
    CHECK(text.find(v.name) != std::string::npos);
  }
}

TEST_CASE("every number is read at its limits and refused beyond them, by name and value") {
  for (const Variable& v : known_variables()) {
    if (v.kind != Variable::Kind::number) continue;
    CAPTURE(v.name);
    const std::string name(v.name);
    for (const std::int64_t good : {v.min, v.max}) {
      std::uint32_t value = 77;
      CHECK(with({name + "=" + std::to_string(good)}).read(v.name, value).ok());
      CHECK(value == good);
    }
    for (const std::string& bad :
         {std::to_string(v.min - 1), std::to_string(v.max + 1), std::string("x"), std::string("1x"),
          std::string(" 1"), std::string("1.0"), std::string("99999999999999999999")}) {
      std::uint32_t value = 77;
      const Status status = with({name + "=" + bad}).read(v.name, value);
      CAPTURE(bad, status.message());
      CHECK(status.code() == ErrorCode::invalid_argument);
      CHECK(value == 77);
      for (const std::string& part : {name, "\"" + bad + "\"", std::to_string(v.min), std::to_string(v.max)})
        CHECK(status.message().find(part) != std::string_view::npos);
    }
    std::uint32_t value = 77;
    CHECK(with({name + "="}).read(v.name, value).ok());  // empty counts as absent
    CHECK(with({}).read(v.name, value).ok());
    CHECK(value == 77);
  }
}

TEST_CASE("flags, choices and port ranges") {
  bool flag = true;
  for (const char* no : {"0", "false", "no", "off"}) {
    flag = true;
    CHECK(with({std::string("STRATA_PROGRESS_THREAD=") + no}).read("STRATA_PROGRESS_THREAD", flag).ok());
    CHECK_FALSE(flag);
  }
  CHECK_FALSE(with({"STRATA_PROGRESS_THREAD=maybe"}).read("STRATA_PROGRESS_THREAD", flag).ok());

  std::string level;
  CHECK(with({"STRATA_LOG=debug"}).read("STRATA_LOG", level).ok());
  CHECK(level == "debug");
  for (const char* bad : {"debu", "debug|info", "|", "DEBUG"}) {
    const Status status = with({std::string("STRATA_LOG=") + bad}).read("STRATA_LOG", level);
    CHECK(status.message().find("trace|debug|info") != std::string_view::npos);
  }

  const auto range = [](const std::string& text, std::uint16_t& a, std::uint16_t& b) {
    return with({"STRATA_PORT_RANGE=" + text}).read_port_range("STRATA_PORT_RANGE", a, b);
  };
  std::uint16_t a = 0, b = 0;
  CHECK(range("1-65535", a, b).ok());
  CHECK((a == 1 && b == 65'535));
  CHECK(range("30000", a, b).ok());
  CHECK((a == 30'000 && b == 30'000));
  for (const char* bad : {"0-5", "5-4", "1-65536", "-", "1-", "-1", "a-b", "1-2-3", "1 - 2"}) {
    CAPTURE(bad);
    CHECK_FALSE(range(bad, a, b).ok());
    CHECK((a == 30'000 && b == 30'000));
  }
}
