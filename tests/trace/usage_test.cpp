// Where a rank's time went: on stories whose figures are known.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "ccl/trace/usage.hpp"
#include "tests/trace/records.hpp"

using namespace strata;
using namespace strata::trace;
using strata::test::Story;

namespace {
const Levels kLevels{{"host", "network"}, {0, 0, 1}};
}

TEST_CASE("lists of intervals agree with a drawing, point by point") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    constexpr int kEnd = 40;
    const auto draw = [&](std::vector<bool>& drawing) {
      std::vector<Interval> list;
      for (int i = static_cast<int>(random() % 6); i > 0; --i) {
        const int a = static_cast<int>(random() % kEnd), b = a + static_cast<int>(random() % (kEnd - a + 1));
        list.push_back({a, b});
        for (int p = a; p < b; ++p) drawing[static_cast<std::size_t>(p)] = true;
      }
      return united(list);
    };
    std::vector<bool> a(kEnd), b(kEnd);
    const auto list_a = draw(a), list_b = draw(b);
    int in_a = 0, in_a_alone = 0;
    for (std::size_t p = 0; p < kEnd; ++p) in_a += a[p], in_a_alone += a[p] && !b[p];
    CHECK(length(list_a) == in_a);
    CHECK(length(without(list_a, list_b)) == in_a_alone);
    for (std::size_t i = 1; i < list_a.size(); ++i) CHECK(list_a[i - 1].end < list_a[i].begin);
  }
}

TEST_CASE("communication behind computing is not exposed") {
  Story story;
  story.begin(0, "forward").end(100).begin(150, "load", 1).end(180).begin(200, "backward").end(300);
  story.operation(0, 50, 60, 120).operation(1, 110, 115, 250);  // in flight 50 to 250
  story.add(Kind::wait, 120, 0, 0, 0, 80).add(Kind::wait, 190, 0, 0, 0, 20);
  const Usage u = usage_of(story.timeline(), kLevels);
  CHECK(u.wall == 300);
  CHECK(u.compute == 200);
  CHECK(u.communication == 200);
  CHECK(u.exposed == 100);  // 100 to 200: loading does not count
  CHECK(u.waited == 90);
}

TEST_CASE("queueing is until the first byte goes out, by priority") {
  Story story;
  story.operation(0, 0, 10, 100, 0).operation(1, 0, 20, 100, 5).operation(2, 50, 52, 100, 5);
  story.add(Kind::departed, 70, 1, static_cast<int>(Direction::send), 8, 0, 0, 1);
  const Usage u = usage_of(story.timeline(), kLevels);
  REQUIRE(u.queueing.size() == 2);
  CHECK(u.queueing.begin()->first == 5);
  const auto& urgent = u.queueing.at(5);
  CHECK((urgent.operations == 2 && urgent.total == 72 && urgent.longest == 70));
  CHECK(u.queueing.at(0).total == 10);
}

TEST_CASE("bytes and time belong to the level that a message crosses, or to shared memory") {
  Story story;
  const auto message = [&](Direction d, Rank peer, std::uint64_t from, std::uint64_t to,
                           std::uint32_t number) {
    story.add(Kind::posted, from, 0, static_cast<int>(d), 1000, 0, number, peer);
    story.add(Kind::completed, to, 0, static_cast<int>(d), 1000, 0, number, peer);
  };
  message(Direction::send, 1, 0, 10, 0);
  message(Direction::send, 2, 0, 30, 1);
  message(Direction::send, 2, 20, 50, 2);
  message(Direction::receive, 2, 60, 70, 0);
  story.add(Kind::at_once, 80, 1, static_cast<int>(Collective::all_reduce), 64, 5);
  const Usage u = usage_of(story.timeline(), kLevels);
  REQUIRE(u.traffic.size() == 3);
  CHECK((u.traffic[0].bytes == 1000 && u.traffic[0].time == 10));
  CHECK((u.traffic[1].bytes == 2000 && u.traffic[1].time == 60));
  CHECK((u.traffic[2].bytes == 64 && u.traffic[2].time == 5));
}

TEST_CASE("the table names ranks, levels and what was dropped") {
  Story story(3);
  story.operation(0, 0, 10, 1'000'000);
  const RankUsage rank{3, "host1", 17, usage_of(story.timeline(), kLevels)};
  const std::string table = usage_table({&rank, 1}, kLevels.names);
  for (const char* words : {"    3 host1", "17 records dropped", "exposed ms", "1.000", "0.0%"})
    CHECK_THAT(table, Catch::Contains(words));
}
