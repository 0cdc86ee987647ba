// Cancelling: on all ranks or on none, whoever asks and when.
#include <catch2/catch.hpp>

#include <atomic>
#include <random>
#include <thread>

#include "strata/ccl.h"
#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kInt = DataType::int32;

Work sum(Communicator& comm, std::vector<int>& data, const CallOptions& options = {}) {
  return comm.all_reduce(data.data(), data.data(), data.size(), kInt, ReduceOp::sum, options);
}

// Fails unless the communicator still gives sums.
void expect_works(Communicator& comm) {
  EXPECT_OK(comm.status());
  for (const std::size_t size : {std::size_t{3}, std::size_t{40'000}}) {
    std::vector<int> data(size, 1);
    EXPECT_OK(sum(comm, data).wait());
    for (const int x : data) EXPECT(x == comm.size());
  }
}

// Did all ranks see the same end?
bool all_alike(Communicator& comm, const Status& mine) {
  std::vector<int> codes(static_cast<std::size_t>(comm.size()));
  const int code = static_cast<int>(mine.code());
  EXPECT_OK(comm.all_gather(&code, codes.data(), 1, kInt).wait());
  for (const int other : codes)
    if (other != code) return false;
  return true;
}

}  // namespace

TEST_CASE("what a rank has not called yet is cancelled, and its call ends at once") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  const std::string name = GENERATE("", "named");
  const std::size_t size = GENERATE(1, 100'000);
  CAPTURE(name_of(wire), name, size);
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    std::vector<int> data(size, 1);
    if (comm.rank() == 2) {  // the others have their word before this rank calls
      EXPECT_OK(comm.recv(&data[0], 1, kInt, 0).wait());
      EXPECT_OK(comm.recv(&data[0], 1, kInt, 1).wait());
    }
    const bool group = wire == Wire::shm && name.empty();  // it begins when it is called
    const Work work = sum(comm, data, {.name = name});
    if (comm.rank() < 2) {
      if (comm.rank() == 0) work.cancel();
      if (!group) EXPECT(work.wait().code() == ErrorCode::cancelled);
      EXPECT_OK(comm.send(&data[0], 1, kInt, 2).wait());
    }
    const Status status = work.wait();
    EXPECT(status.code() == (group ? ErrorCode::ok : ErrorCode::cancelled));
    if (!group) EXPECT(status.message().find("rank 0") != std::string_view::npos);
    expect_works(comm);
  });
  CHECK(wrong == "");
}

TEST_CASE("what waits behind another call of its group is cancelled before it begins") {
  const std::string wrong = run_world(3, {.wire = Wire::shm, .communicator = {}}, [&](Communicator& comm) {
    std::vector<int> first(100'000, 1), second(100'000, 1), third(10, 1);
    int word = 0;
    if (comm.rank() == 2) EXPECT_OK(comm.recv(&word, 1, kInt, 0).wait());
    const std::vector<Work> works{sum(comm, first), sum(comm, second), sum(comm, third)};
    if (comm.rank() == 0) {
      works[1].cancel();
      while (!works[1].done()) std::this_thread::yield();
      EXPECT_OK(comm.send(&word, 1, kInt, 2).wait());
    }
    EXPECT_OK(works[0].wait());
    EXPECT(works[1].wait().code() == ErrorCode::cancelled);
    EXPECT_OK(works[2].wait());
    EXPECT(first.back() == 3);
    EXPECT(third.back() == 3);
    expect_works(comm);
  });
  CHECK(wrong == "");
}

TEST_CASE("messages are cancelled at both ends, and those after them arrive") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::tcp);
  const bool sender_asks = GENERATE(true, false);
  const std::size_t size = GENERATE(1, 100'000);
  CAPTURE(name_of(wire), sender_asks, size);
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    const bool asks = (comm.rank() == 0) == sender_asks;
    std::vector<int> data(size, 5);
    const auto call = [&] {
      return comm.rank() == 0 ? comm.send(data.data(), data.size(), kInt, 1)
                              : comm.recv(data.data(), data.size(), kInt, 0);
    };
    const int peer = 1 - comm.rank();
    int word = 0;
    const auto give_word = [&] { return comm.send(&word, 1, kInt, peer, {.name = "word"}).wait(); };
    if (!asks) EXPECT_OK(comm.recv(&word, 1, kInt, peer, {.name = "word"}).wait());
    const Work work = call();
    if (asks) work.cancel();
    const Status status = work.wait();
    if (asks) EXPECT_OK(give_word());
    // A small send has ended when it is called, as a rule.
    const bool may_be_gone = size == 1 && sender_asks && wire != Wire::memory;
    EXPECT((status.code() == ErrorCode::cancelled || (may_be_gone && status.ok())));
    EXPECT(all_alike(comm, status));
    std::vector<int> next(size, comm.rank() == 0 ? 7 : 0);
    EXPECT_OK(
        (comm.rank() == 0 ? comm.send(next.data(), size, kInt, 1) : comm.recv(next.data(), size, kInt, 0))
            .wait());
    EXPECT(next.back() == 7);
    expect_works(comm);
  });
  CHECK(wrong == "");
}

TEST_CASE("what has ended stays as it is") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    std::vector<int> data(1000, 1);
    const Work work = sum(comm, data);
    EXPECT_OK(work.wait());
    work.cancel();
    EXPECT_OK(work.wait());
    EXPECT(!work.deadline());
    Work().cancel();
    expect_works(comm);
  });
  CHECK(wrong == "");
}

TEST_CASE("a deadline cancels everywhere what a rank does not call, and the communicator goes on") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    std::vector<int> data(1000, 1);
    int word = 0;
    if (comm.rank() == 2) EXPECT_OK(comm.recv(&word, 1, kInt, 0).wait());
    const Work work = sum(comm, data, {.deadline_ms = comm.rank() == 0 ? 20u : 0u});
    EXPECT(work.deadline().has_value() == (comm.rank() == 0));
    const Status status = work.wait();
    EXPECT(status.code() == ErrorCode::timeout);
    EXPECT(status.message().find("deadline at rank 0") != std::string_view::npos);
    if (comm.rank() == 0) EXPECT_OK(comm.send(&word, 1, kInt, 2).wait());
    expect_works(comm);
  });
  CHECK(wrong == "");
}

TEST_CASE("a call that was to be done at once, and was not, has its deadline too") {
  const std::string wrong = run_world(2, {.wire = Wire::shm, .communicator = {}}, [](Communicator& comm) {
    std::vector<int> data(1, 1);
    int word = 0;
    if (comm.rank() == 1) EXPECT_OK(comm.recv(&word, 1, kInt, 0).wait());
    const Work work = sum(comm, data, {.deadline_ms = 3'600'000});
    if (comm.rank() == 0) {  // the other has not called it
      EXPECT(work.deadline().has_value());
      EXPECT_OK(comm.send(&word, 1, kInt, 1).wait());
    }
    EXPECT_OK(work.wait());
    EXPECT(data[0] == 2);
  });
  CHECK(wrong == "");
}

TEST_CASE("a rank that has left had ended its part: no cancelling, no waiting for its answer") {
  const Wire wire = GENERATE(Wire::memory, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    auto own = comm.duplicate();
    EXPECT_OK(own.status());
    int value = 1;
    // Rank 0 has done its part of a broadcast when it has sent it, unless it is cancelled before.
    const Work work = own->broadcast(&value, &value, 1, kInt, 0);
    if (comm.rank() > 0) work.cancel();
    const Status status = work.wait();
    EXPECT((status.ok() || status.code() == ErrorCode::cancelled));
    if (comm.rank() == 0) own = Status(ErrorCode::aborted, "");
    EXPECT_OK(comm.barrier().wait());
  });
  CHECK(wrong == "");
}

TEST_CASE("any ranks cancel any operations at any moment: all see the same end, and right sums") {
  std::atomic<int> cancelled{0}, ended{0};
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    const Wire wires[] = {Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp};
    const Wire wire = wires[seed % 4];
    const Faults faults{.seed = seed, .delay = 0.3, .delay_polls_max = 20, .peer_death = 0};
    CAPTURE(seed, name_of(wire));
    const int ranks = 2 + static_cast<int>(seed % 3);
    const std::string wrong = run_world(
        ranks, {.wire = wire, .communicator = {}, .faults = wire == Wire::memory ? &faults : nullptr},
        [&](Communicator& comm) {
          std::mt19937_64 shared(seed), own(seed * 100 + static_cast<unsigned>(comm.rank()));
          constexpr std::size_t kOperations = 24;
          std::vector<std::vector<int>> data;
          std::vector<Work> works;
          for (std::size_t i = 0; i < kOperations; ++i)
            data.emplace_back(shared() % 3 == 0 ? 30'000 : 1 + shared() % 50, 1);
          for (std::size_t i = 0; i < kOperations; ++i) {
            const std::string name = "op " + std::to_string(i % 5);
            works.push_back(sum(comm, data[i], {.name = i % 3 == 0 ? name : std::string_view()}));
            if (own() % 4 == 0) works[own() % works.size()].cancel();
            if (own() % 8 == 0) std::this_thread::yield();
          }
          for (std::size_t i = 0; i < kOperations; ++i) {
            const Status status = works[i].wait();
            EXPECT((status.ok() || status.code() == ErrorCode::cancelled));
            EXPECT(all_alike(comm, status));
            if (status.ok())
              for (const int x : data[i]) EXPECT(x == comm.size());
            ++(status.ok() ? ended : cancelled);
          }
          expect_works(comm);
        });
    REQUIRE(wrong == "");
  }
  CHECK(cancelled > 100);  // both happened
  CHECK(ended > 100);
}
