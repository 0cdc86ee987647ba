// Records become spans; clocks of hosts become one.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "ccl/trace/clock_offset.hpp"
#include "tests/trace/records.hpp"

using namespace strata;
using namespace strata::trace;
using strata::test::Story;

namespace {
constexpr int kSend = static_cast<int>(Direction::send), kReceive = static_cast<int>(Direction::receive);
}

TEST_CASE("an operation has all its moments, whatever the order of its records") {
  Story story;
  story.add(Kind::ended, 50, 7, static_cast<int>(ErrorCode::timeout));
  story.add(Kind::departed, 30, 7, kSend, 8, 0, 2, 3);
  story.add(Kind::departed, 35, 7, kSend, 8, 0, 4, 3);
  story.add(Kind::started, 20, 7, static_cast<int>(Way::algorithm), 0, 0, 5);
  story.add(Kind::submitted, 10, 7, static_cast<int>(Collective::all_gather), 4096, 0,
            static_cast<std::uint32_t>(-2));
  const Timeline t = story.timeline();
  REQUIRE(t.operations.size() == 1);
  const OperationSpan& o = t.operations[0];
  CHECK((o.submitted == 10 && o.started == 20 && o.departed == 30 && o.ended == 50));
  CHECK((o.collective == Collective::all_gather && o.bytes == 4096 && o.priority == -2 && o.algorithm == 5));
  CHECK((o.has_ended && o.error == ErrorCode::timeout));
}

TEST_CASE("sends and receives with one number are told apart") {
  Story story;
  for (const Collective c : {Collective::send, Collective::recv})
    story.add(Kind::submitted, 1, 3, static_cast<int>(c), 8, 0, 0, 2);
  story.add(Kind::started, 2, 3, static_cast<int>(Way::receive), 0, 0, 0, 2);
  story.add(Kind::ended, 8, 3, 0, 0, 0, static_cast<std::uint32_t>(Way::receive), 2);
  story.add(Kind::submitted, 1, 3, static_cast<int>(Collective::send), 8, 0, 0, 4);
  story.add(Kind::posted, 2, 3, kSend, 8, 0, 0, 2).add(Kind::posted, 2, 3, kReceive, 8, 0, 0, 2);
  story.add(Kind::completed, 9, 3, kReceive, 8, 0, 0, 2);
  const Timeline t = story.timeline();
  REQUIRE(t.operations.size() == 3);
  CHECK((!t.operations[0].has_ended && t.operations[1].has_ended && t.operations[1].started == 2));
  REQUIRE(t.messages.size() == 2);
  CHECK((!t.messages[0].has_ended && t.messages[1].has_ended && t.messages[1].time == Interval{2, 9}));
}

TEST_CASE("what had not ended lasts as long as the timeline") {
  Story story;
  story.add(Kind::submitted, 5, 0, 0).add(Kind::posted, 6, 0, kSend, 8, 0, 0, 1).begin(7, "late");
  story.add(Kind::wait, 8, 0, 0, 0, 92);
  const Timeline t = story.timeline();
  CHECK((t.operations[0].ended == 100 && !t.operations[0].has_ended));
  CHECK((t.messages[0].time.end == 100 && !t.messages[0].has_ended));
  CHECK(t.spans[0].time == Interval{7, 100});
  CHECK(t.time.end == 100);
}

TEST_CASE("spans nest on each thread of its own; an end too many is nothing") {
  Story story;
  story.end(1).begin(2, "outer", 1).begin(3, "other thread", 2, 9, 1).begin(4, "inner", 0, 12);
  story.end(5).end(6).end(7, 1).end(8);
  const Timeline t = story.timeline();
  REQUIRE(t.spans.size() == 3);
  CHECK((t.spans[0].name == "outer" && t.spans[0].category == "data" && t.spans[0].time == Interval{2, 6}));
  CHECK((t.spans[1].name == "other thread 9" && t.spans[1].category == "other" &&
         t.spans[1].time == Interval{3, 7}));
  CHECK((t.spans[2].name == "inner 12" && t.spans[2].category == "compute" &&
         t.spans[2].time == Interval{4, 5}));
}

TEST_CASE("records for which there was no room are counted") {
  Story story;
  story.add(Kind::wait, 1, 0).add(Kind::wait, 2, 0);
  story.part().header.records_max = 2;
  story.part().header.next = 12;
  CHECK(story.timeline().dropped == 10);
}

TEST_CASE("ticks are told by two moments") {
  const TickRate rate({1000, 500}, {3000, 1500});  // two ticks a nanosecond
  CHECK(rate.ns_at(1000) == 500);
  CHECK(rate.ns_at(2000) == 1000);
  CHECK(rate.ns_at(5000) == 2500);
  CHECK(rate.ns_at(0) == 0);
  CHECK(TickRate({7, 9}, {7, 9}).ns_at(10) == 12);
}

TEST_CASE("the shortest way there and back tells the offset of clocks, within half of it") {
  // The other's clock is 1000 ahead; ways there and back differ.
  const auto sample = [](std::int64_t sent, std::int64_t there, std::int64_t back) {
    return ClockSample{sent, sent + there + 1000, sent + there + back};
  };
  const ClockSample samples[] = {sample(0, 400, 100), sample(1000, 40, 60), sample(2000, 90, 11)};
  const ClockOffset found = estimate_offset(samples);
  CHECK(found == ClockOffset{1040 + 1000, 990, 51});
  CHECK(std::abs(found.offset_ns - 1000) <= found.error_ns);
}

TEST_CASE("clocks that drift apart are put right in between and beyond") {
  PartHeader h;
  h.first = {1'000'000, 500, 0};
  h.last = {2'000'000, 700, 0};
  CHECK(common_ns(h, 1'000'000) == 999'500);
  CHECK(common_ns(h, 1'500'000) == 1'499'400);
  CHECK(common_ns(h, 2'500'000) == 2'499'200);
  h.last = h.first;  // found once
  CHECK(common_ns(h, 3'000'000) == 2'999'500);
}
