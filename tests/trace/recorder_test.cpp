// The recorder: many threads, little room, and files that stay or go.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "ccl/trace/recorder.hpp"
#include "ccl/trace/spans.hpp"

using namespace strata;
using namespace strata::trace;

namespace {

std::string place() {
  static std::atomic<int> next{0};
  return (std::filesystem::temp_directory_path() /
          ("strata-trace-" + std::to_string(::getpid()) + "-" + std::to_string(next++)))
      .string();
}

Recorder& open(const std::string& path, std::uint64_t bytes = 1 << 20) {
  auto made = Recorder::open(path, {2, 4, "host7"}, bytes);
  REQUIRE(made.ok());
  return **made;
}

void add(Recorder& recorder, std::uint64_t operation) {
  Record r;
  r.time = recorder.now();
  r.of.operation = operation;
  r.detail = static_cast<std::uint32_t>(operation);
  recorder.add(Kind::submitted, r);
}

}  // namespace

TEST_CASE("records of many threads are all there, whole, while others look and after the room has ended") {
  const std::string path = place();
  constexpr std::uint64_t kThreads = 4, kEach = 4000;
  Recorder& recorder = open(path, kHeaderBytes + 10'000 * sizeof(Record));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&recorder, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) add(recorder, t * kEach + i);
    });
  for (int look = 0; look < 20; ++look)
    for (const Record& r : recorder.snapshot().records) REQUIRE(r.detail == r.of.operation);
  for (std::thread& t : threads) t.join();
  const Part part = recorder.snapshot();
  CHECK(part.records.size() == 10'000);
  CHECK(part.dropped() == kThreads * kEach - 10'000);
  std::map<std::uint16_t, std::uint64_t> latest;
  for (const Record& r : part.records) {
    CHECK(r.detail == r.of.operation);
    CHECK(r.time >= latest[r.thread]);
    latest[r.thread] = r.time;
  }
  CHECK(latest.size() <= kThreads);  // one may come when there is no room left
  recorder.close(false);
  CHECK(!std::filesystem::exists(path));
  add(recorder, 1);  // too late: nothing
}

TEST_CASE("a part that is kept is read again as it was") {
  const std::string path = place();
  Recorder& recorder = open(path);
  recorder.set_offset({5, 6, 7});
  for (std::uint64_t i = 0; i < 100; ++i) add(recorder, i);
  const Part before = recorder.snapshot();
  recorder.close(true);
  const auto after = read_part(path);
  REQUIRE(after.ok());
  CHECK((after->header.rank == 2 && after->header.size == 4 && after->header.pid == ::getpid()));
  CHECK(std::string(after->header.host.data()) == "host7");
  CHECK(after->header.first == ClockOffset{5, 6, 7});
  REQUIRE(after->records.size() == before.records.size());
  for (std::size_t i = 0; i < before.records.size(); ++i) {
    CHECK(after->records[i].of.operation == i);
    CHECK(after->records[i].time == before.records[i].time);
  }
  std::filesystem::remove(path);
}

TEST_CASE("a rank that is killed leaves what it had recorded") {
  const std::string path = place();
  const pid_t pid = ::fork();
  if (pid == 0) {
    auto made = Recorder::open(path, {0, 1, "here"}, 1 << 20);
    for (std::uint64_t i = 0; made.ok() && i < 2000; ++i) add(**made, i);
    ::raise(SIGKILL);
  }
  ::waitpid(pid, nullptr, 0);
  const auto part = read_part(path);
  REQUIRE(part.ok());
  CHECK(part->records.size() == 2000);
  CHECK(part->header.latest.ns > part->header.begun.ns);
  std::filesystem::remove(path);
}

TEST_CASE("what is no part, and what cannot be made, is named") {
  const std::string path = place();
  CHECK_THAT(std::string(read_part(path).status().message()), Catch::Contains(path));
  std::ofstream(path) << "nothing of the kind";
  CHECK_THAT(std::string(read_part(path).status().message()), Catch::Contains("no part of a trace"));
  const auto made = Recorder::open(path + "/below", {0, 1, ""}, 1 << 20);
  CHECK_THAT(std::string(made.status().message()), Catch::Contains(path + "/below"));
  std::filesystem::remove(path);
}

TEST_CASE("spans of the application go to one recorder, and cost nothing but a look without one") {
  CHECK(!TraceSpan::recorded());
  { const TraceSpan nobody_sees_it("before"); }
  Recorder &first = open(place()), &second = open(place());
  TraceSpans::record_to(first);
  TraceSpans::record_to(second);
  {
    const TraceSpan outer("a name that is longer than what is kept of it");
    const TraceSpan inner("layer", 3, TraceCategory::data);
    TraceSpans::stop(second);  // not its
  }
  TraceSpans::stop(first);
  { const TraceSpan nobody_sees_it("after"); }
  const Part part = first.snapshot();
  REQUIRE(part.records.size() == 4);
  CHECK(std::string(part.records[0].name.data(), kNameBytesMax) == "a name that is longer th");
  CHECK((part.records[1].detail == 3 && part.records[1].what == 1));
  CHECK((part.records[2].kind == Kind::end && part.records[3].kind == Kind::end));
  CHECK(second.snapshot().records.empty());
  first.close(false);
  second.close(false);
}
