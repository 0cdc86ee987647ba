// Laws of cutting output into lines, for every way the bytes may arrive.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "tools/strata_run/line_cutter.hpp"
#include "tools/strata_run/prefix.hpp"

using namespace strata::run;

namespace {

// In pieces that end at the given odds.
std::string cut(const std::string& text, const std::string& prefix, std::mt19937& random,
                unsigned piece_max) {
  LineCutter cutter(prefix);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t n = 1 + random() % piece_max;
    cutter.feed(std::string_view(text).substr(at, n), out);
    at += n;
  }
  cutter.finish(out);
  return out;
}

// The same, said simply, of the whole text.
std::string expected(const std::string& text, const std::string& prefix) {
  std::string out;
  bool at_begin = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (at_begin) out += prefix;
    out += text[i];
    at_begin = text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  }
  if (!at_begin) out += '\n';
  return out;
}

}  // namespace

TEST_CASE("lines come out whole and with their prefix, however the bytes arrive") {
  for (unsigned seed = 1; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string text(random() % 200, '\0');
    for (char& c : text) c = "ab\r\n\0"[random() % 5];
    CAPTURE(text);
    const unsigned piece_max = 1 + random() % 50;
    CHECK(cut(text, "[1] ", random, piece_max) == expected(text, "[1] "));
    CHECK(cut(text, "", random, piece_max) == text);  // nothing added, nothing lost
  }
}

TEST_CASE("a line is passed on as soon as it is complete, and not before") {
  LineCutter cutter("> ");
  std::string out;
  cutter.feed("a", out);
  CHECK(out == "");
  cutter.feed("b\nc", out);
  CHECK(out == "> ab\n");
  cutter.feed("\r", out);
  CHECK(out == "> ab\n");  // a line feed may follow
  cutter.feed("\nd\re", out);
  CHECK(out == "> ab\n> c\r\n> d\r");
}

TEST_CASE("a line without an end is cut before it fills the memory") {
  std::mt19937 random(1);
  const std::string endless(3 * kLineBytesMax + 5, 'x');
  const std::string out = cut(endless, "> ", random, 100'000);
  std::size_t bytes = 0, longest = 0, line = 0;
  for (const char c : out) {
    bytes += c == 'x';
    line = c == '\n' ? 0 : line + 1;
    longest = std::max(longest, line);
  }
  CHECK(bytes == endless.size());
  CHECK(longest < 2 * kLineBytesMax);
  CHECK(cut(endless, "", random, 100'000) == endless);
}

TEST_CASE("prefixes of all ranks are equally wide") {
  CHECK(prefix_of(3, 9, false) == "[3] ");
  CHECK(prefix_of(3, 10, false) == "[ 3] ");
  CHECK(prefix_of(100, 100, false) == "[100] ");
  CHECK(prefix_of(0, 0, true) == "\x1b[36m[0]\x1b[0m ");
}
