// Ranks that locate themselves together agree, or all say the same of why not.
#include "ccl/runtime/locate.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/support/local_exchange.hpp"
#include "tests/support/world.hpp"

namespace strata::test {
namespace {

using Catch::Matchers::Contains;

class Files final {
 public:
  Files() : folder_(make_meeting_place()) { std::filesystem::create_directories(folder_); }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  const std::string folder_;
};

struct Told {
  std::string topology, levels;
};

// Ranks of hosts a, b, a, ... in turn; what each was told.
std::vector<Expected<Whereabouts>> locate_all(const std::vector<Told>& told) {
  const int size = static_cast<int>(told.size());
  std::vector<Seat> seats;
  for (int r = 0; r < size; ++r)
    seats.push_back({r % 2 == 0 ? "a" : "b", r % 2 == 0 ? "ia" : "ib", "0", topology::kNone});
  LocalExchangeHub hub(size);
  std::vector<Expected<Whereabouts>> found(told.size(), Status(ErrorCode::internal, "did not run"));
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r)
    threads.emplace_back([&, r] {
      LocalExchange exchange(hub, r);
      const auto i = static_cast<std::size_t>(r);
      found[i] = locate(exchange, seats, told[i].topology, told[i].levels);
    });
  for (std::thread& thread : threads) thread.join();
  return found;
}

// The error that all ranks have.
std::string refusal(const std::vector<Told>& told, ErrorCode code) {
  std::set<std::string> said;
  for (const auto& one : locate_all(told)) {
    CHECK(one.status().code() == code);
    said.insert(std::string(one.status().message()));
  }
  REQUIRE(said.size() == 1);
  return *said.begin();
}

const std::string kHosts = "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n";

}  // namespace

TEST_CASE("all ranks find the same levels, and hosts that are alike share a machine") {
  const auto found = locate_all(std::vector<Told>(6));
  for (const auto& one : found) {
    REQUIRE(one.ok());
    CHECK(one->topology == found[0]->topology);
    CHECK(one->natural == found[0]->natural);
    CHECK(one->places == found[0]->places);
  }
  CHECK(found[0]->topology.hosts.size() == 2);
  CHECK(found[0]->topology.machines.size() == 1);  // both are this machine
  CHECK(!found[0]->topology.machines[0].cores.empty());
  CHECK(found[0]->natural.levels[0].groups == std::vector<std::vector<Rank>>{{0, 2, 4}, {1, 3, 5}});
}

TEST_CASE("ranks that read the same file by different paths agree") {
  const Files files;
  const Told one{files.write("one.toml", kHosts), ""}, other{files.write("other.toml", kHosts), ""};
  for (const auto& found : locate_all({one, other, one})) CHECK(found.ok());
}

TEST_CASE("files that differ are named with the line at every rank") {
  const Files files;
  const std::string a = files.write("a.toml", kHosts), b = files.write("b.toml", kHosts + "slots = 2\n"),
                    c = files.write("c.toml", "[[host]]\nname = \"c\"\n");
  CHECK(refusal({{a, ""}, {a, ""}, {b, ""}}, ErrorCode::mismatch) ==
        a + ":5: the topology file of rank 0 (host a) says \"\" there, " + b +
            ":5 of rank 2 (host a) \"slots = 2\"; all ranks must read the same");
  CHECK_THAT(refusal({{a, ""}, {c, ""}}, ErrorCode::mismatch),
             Contains(":2: the topology file of rank 0 (host a) says \"name = \"a\"\""));
  CHECK(refusal({{a, ""}, {"", ""}}, ErrorCode::mismatch) ==
        "topology file: rank 0 (host a) was given " + a +
            ", rank 1 (host b) none; all ranks must be given the same");
}

TEST_CASE("a file that one rank cannot read, or that is wrong, is an error at every rank") {
  const Files files;
  const std::string good = files.write("good.toml", kHosts), gone = files.path("gone.toml"),
                    bad = files.write("bad.toml", "[[host]]\nname = 3\n"),
                    foreign = files.write("foreign.toml", "[[host]]\nname = \"x\"\n");
  CHECK_THAT(refusal({{good, ""}, {gone, ""}}, ErrorCode::unavailable),
             Contains("rank 1 (host b): cannot read " + gone));
  CHECK_THAT(refusal({{bad, ""}, {bad, ""}}, ErrorCode::invalid_argument), Contains(bad + ":2: "));
  CHECK_THAT(refusal({{foreign, ""}, {foreign, ""}}, ErrorCode::invalid_argument),
             Contains(foreign + ":1: rank 0 is on host 'a', which the file does not have"));
}

TEST_CASE("levels by hand must be the same, and right") {
  CHECK(refusal({{"", "2x1"}, {"", ""}}, ErrorCode::mismatch) ==
        "levels by hand: rank 0 (host a) was given '2x1', rank 1 (host b) ''; all ranks must be given the "
        "same");
  CHECK_THAT(refusal({{"", "2x3"}, {"", "2x3"}}, ErrorCode::invalid_argument), Contains("levels '2x3'"));
  CHECK(locate_all({{"", "2x1"}, {"", "2x1"}})[1]->levels.levels.size() == 1);
}

}  // namespace strata::test
