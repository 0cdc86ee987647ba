// The derived order is exactly what the bytes demand: compared with byte-by-byte histories of random
// programs.
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "ccl/base/interval_map.hpp"
#include "ccl/schedule/schedule.hpp"

namespace strata::test {
namespace {

constexpr std::uint64_t kBufferBytes = 24;  // small, so that slices meet often
constexpr Buffer kBuffers[] = {Buffer::input, Buffer::output, Buffer::scratch};

using Edges = std::set<std::pair<StepId, StepId>>;

bool meet(Slice a, Slice b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

  Program make(int steps) {
    Program program;
    program.scratch(kBufferBytes);
    for (int i = 0; i < steps; ++i) add_step(program);
    return program;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  Slice slice(std::uint64_t length) { return {kBuffers[below(3)], below(kBufferBytes - length + 1), length}; }
  Slice apart_from(Slice other, std::uint64_t length) {
    for (;;)
      if (const Slice s = slice(length); !meet(s, other)) return s;
  }

  void add_step(Program& program) {
    const std::uint64_t length = 1 + below(6);
    const Slice into = slice(length);
    const auto peer = static_cast<Rank>(below(3));
    const int channel = static_cast<int>(below(2));
    switch (below(7)) {
      case 0: return program.send(peer, into, channel);
      case 1: return program.recv(peer, into, channel);
      case 2: return program.recv_reduce(peer, into, channel);
      case 3: return program.recv_reduce(peer, apart_from(into, length), into, channel);
      case 4: return program.copy(apart_from(into, length), into);
      case 5: return program.finish(into);
      default: return program.reduce(apart_from(into, 2 * length), into, 2, below(2) == 0);
    }
  }

  std::mt19937_64 random_;
};

// The definition, a byte at a time: a reader waits for the byte's last writer; a writer for those who have
// read it since, or for the last writer if nobody has.
class ByteHistories {
 public:
  void add(StepId id, const Step& step) {
    for_bytes(step.from(), [&](Byte& byte) {
      wait(byte.writer, id);
      byte.readers.insert(id);
    });
    for_bytes(step.into(), [&](Byte& byte) {
      byte.readers.erase(id);
      for (const StepId reader : byte.readers) wait(reader, id);
      if (byte.readers.empty()) wait(byte.writer, id);
      byte = {static_cast<std::int64_t>(id), {}};
    });
  }
  const Edges& edges() const { return edges_; }

 private:
  struct Byte {
    std::int64_t writer = -1;
    std::set<StepId> readers;
  };
  void wait(std::int64_t before, StepId after) {
    if (before >= 0 && before != after) edges_.emplace(static_cast<StepId>(before), after);
  }
  template <class Visit>
  void for_bytes(Slice slice, Visit visit) {
    for (std::uint64_t i = 0; i < slice.length; ++i)
      visit(bytes_[static_cast<std::size_t>(slice.buffer)][slice.offset + i]);
  }
  std::array<std::array<Byte, kBufferBytes>, 4> bytes_;
  Edges edges_;
};

Edges edges_of(const Schedule& schedule) {
  Edges edges;
  for (StepId s = 0; s < schedule.steps.size(); ++s)
    for (const StepId d : schedule.dependents_of(s)) REQUIRE(edges.emplace(s, d).second);
  return edges;
}

Edges closure(const Edges& edges, StepId steps) {
  Edges all = edges;
  for (StepId middle = 0; middle < steps; ++middle)  // edges lead forward: one pass in order is enough
    for (StepId a = 0; a < middle; ++a)
      if (all.count({a, middle}))
        for (StepId b = middle + 1; b < steps; ++b)
          if (all.count({middle, b})) all.emplace(a, b);
  return all;
}

Edges conflicts(const std::vector<Step>& steps) {
  Edges edges;
  for (StepId b = 0; b < steps.size(); ++b)
    for (StepId a = 0; a < b; ++a)
      if (meet(steps[a].into(), steps[b].into()) || meet(steps[a].into(), steps[b].from()) ||
          meet(steps[a].from(), steps[b].into()))
        edges.emplace(a, b);
  return edges;
}

}  // namespace

TEST_CASE("derived edges are those of every byte's history") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const Program program = RandomProgram(seed).make(static_cast<int>(seed % 60));
    const Schedule schedule = derive(program);
    ByteHistories histories;
    for (StepId s = 0; s < schedule.steps.size(); ++s) histories.add(s, schedule.steps[s]);
    REQUIRE(edges_of(schedule) == histories.edges());
  }
}

TEST_CASE("derived order is the closure of all conflicts") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Schedule schedule = derive(RandomProgram(seed).make(40));
    const auto steps = static_cast<StepId>(schedule.steps.size());
    REQUIRE(closure(edges_of(schedule), steps) == closure(conflicts(schedule.steps), steps));
  }
}

TEST_CASE("waits, roots and message numbers agree with the steps") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Schedule schedule = derive(RandomProgram(seed).make(80));
    std::vector<std::uint32_t> waits(schedule.steps.size(), 0);
    for (const auto& [before, after] : edges_of(schedule)) {
      REQUIRE(before < after);
      ++waits[after];
    }
    REQUIRE(waits == schedule.waits);
    std::map<std::tuple<Rank, bool, int>, std::uint32_t> sent;
    std::vector<StepId> roots;
    for (StepId s = 0; s < schedule.steps.size(); ++s) {
      if (waits[s] == 0) roots.push_back(s);
      const Step& step = schedule.steps[s];
      if (!step.on_wire()) continue;
      const std::uint32_t index = sent[{step.peer, step.op == Op::send, step.channel}]++;
      REQUIRE(schedule.message[s] == (static_cast<std::uint32_t>(step.channel) << 24 | index));
    }
    REQUIRE(roots == schedule.roots);
  }
}

TEST_CASE("empty slices and copies onto themselves add no step") {
  Program program;
  const Slice some{Buffer::output, 8, 8}, empty{Buffer::output, 8, 0};
  program.send(1, empty);
  program.recv(1, empty);
  program.recv_reduce(1, empty);
  program.reduce({Buffer::scratch, 0, 0}, empty);
  program.finish(empty);
  program.copy(empty, {Buffer::input, 0, 0});
  program.copy(some, some);
  program.send(1, {});
  const Schedule schedule = derive(program);
  CHECK(schedule.steps.empty());
  CHECK(schedule.roots.empty());
  CHECK(schedule.first_dependent.size() == 1);
}

TEST_CASE("an interval map is an array of values, in fewer pieces") {
  constexpr std::uint64_t kCells = 40;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::pmr::monotonic_buffer_resource memory;
    IntervalMap<std::uint64_t> map(&memory);
    std::array<std::uint64_t, kCells> cells{};
    for (std::uint64_t i = 1; i <= 60; ++i) {
      const std::uint64_t begin = random() % kCells, end = begin + 1 + random() % (kCells - begin);
      if (random() % 2 == 0) {
        map.assign(begin, end, i);
        for (std::uint64_t c = begin; c < end; ++c) cells[c] = i;
      } else {
        map.touch(begin, end, [](std::uint64_t& value) { value += 1000; });
        for (std::uint64_t c = begin; c < end; ++c) cells[c] += 1000;
      }
    }
    std::uint64_t at = 0;
    std::size_t pieces = 0;
    for (; at < kCells; ++at) map.touch(at, at + 1, [&](std::uint64_t& v) { pieces += v == cells[at]; });
    REQUIRE(pieces == kCells);
  }
}

TEST_CASE("assigning makes one range of many") {
  std::pmr::monotonic_buffer_resource memory;
  IntervalMap<int> map(&memory);
  for (std::uint64_t i = 0; i < 100; ++i) map.assign(i, i + 1, 1);
  map.assign(0, 100, 2);
  CHECK(map.size() == 1);
  map.assign(10, 20, 3);
  CHECK(map.size() == 3);
  map.assign(30, 30, 4);
  CHECK(map.size() == 3);
}

}  // namespace strata::test
