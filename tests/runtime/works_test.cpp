// Handles, groups, several communicators, several threads.
#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kInt = DataType::int32;

Work sum(Communicator& comm, std::vector<int>& data) {
  return comm.all_reduce(data.data(), data.data(), data.size(), kInt, ReduceOp::sum);
}

}  // namespace

TEST_CASE("many operations in flight end in any order they are waited for") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    constexpr int kOperations = 1500;  // more than the engine's queue holds
    std::vector<std::vector<int>> data;
    std::vector<Work> works;
    for (int i = 0; i < kOperations; ++i) data.emplace_back(1 + i % 50, comm.rank() + i);
    for (auto& d : data) works.push_back(sum(comm, d));
    for (int i = kOperations; i-- > 0;) EXPECT_OK(works[static_cast<std::size_t>(i)].wait());
    for (int i = 0; i < kOperations; ++i)
      for (const int x : data[static_cast<std::size_t>(i)]) EXPECT(x == 3 * i + 3);
  });
  CHECK(wrong == "");
}

TEST_CASE(
    "a late rank is asked about operations far behind those that others have begun, and all goes well") {
  const Wire wire = GENERATE(Wire::shm, Wire::shm_messages);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    if (comm.rank() == 2) std::this_thread::sleep_for(1500ms);  // the watchdog asks after a second
    std::vector<std::vector<int>> data;
    std::vector<Work> works;
    for (std::size_t i = 0; i < 200; ++i) data.emplace_back(1 + i, 1);
    for (auto& d : data) works.push_back(sum(comm, d));
    EXPECT_OK(Work::wait_all(works));
    for (const auto& d : data) EXPECT(d.back() == 3);
  });
  CHECK(wrong == "");
}

TEST_CASE("wait_any, wait_all, wait_for and callbacks") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    const int other = 1 - comm.rank();
    int received = -1, mine = comm.rank();
    // Nothing is sent yet: the wait gives up and the operation goes on.
    Work late = comm.recv(&received, 1, kInt, other);
    EXPECT(late.wait_for(5ms).code() == ErrorCode::timeout);
    EXPECT(!late.done());
    std::vector<int> data(10, 1);
    std::vector<Work> works{late, sum(comm, data)};
    EXPECT(Work::wait_any(works) == 1);
    EXPECT_OK(comm.barrier().wait());  // nobody sends before both have seen it
    std::atomic<int> called{0};
    late.then([&](const Status& s) { called += s.ok() ? 1 : 100; });
    EXPECT_OK(comm.send(&mine, 1, kInt, other).wait());
    EXPECT_OK(Work::wait_all(works));
    EXPECT(received == other);
    late.then([&](const Status& s) { called += s.ok() ? 10 : 100; });  // it has ended: called at once
    EXPECT_OK(comm.barrier().wait());
    EXPECT(called == 11);
  });
  CHECK(wrong == "");
}

TEST_CASE("a callback may start the next operation") {
  const std::string wrong = run_world(2, {.wire = Wire::shm, .communicator = {}}, [](Communicator& comm) {
    constexpr int kLinks = 300;
    int value = 1;
    std::atomic<int> done{0};
    std::atomic<bool> bad{false};
    std::function<void(const Status&)> next = [&](const Status& s) {
      if (!s.ok()) bad = true;
      if (++done < kLinks) comm.all_reduce(&value, &value, 1, kInt, ReduceOp::max).then(next);
    };
    comm.all_reduce(&value, &value, 1, kInt, ReduceOp::max).then(next);
    while (done < kLinks && !bad) std::this_thread::yield();  // the progress threads do it all
    EXPECT(!bad);
    EXPECT(value == 1);
  });
  CHECK(wrong == "");
}

TEST_CASE("without a progress thread operations advance inside calls") {
  CommunicatorOptions options;
  options.progress_thread = false;
  const std::string wrong =
      run_world(3, {.wire = Wire::shm, .communicator = options}, [](Communicator& comm) {
        std::vector<int> data(1000, 1);
        Work work = sum(comm, data);
        while (!work.done()) std::this_thread::yield();
        EXPECT(data[999] == 3);
        EXPECT_OK(comm.barrier().wait());
      });
  CHECK(wrong == "");
}

TEST_CASE("grouped calls: blocking exchanges in any order do not deadlock") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  const std::string wrong = run_world(4, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    constexpr std::size_t kCount = 100'000;  // larger than any eager message
    std::vector<std::vector<int>> in(4), out(4);
    group_start();
    for (int peer = 0; peer < comm.size(); ++peer) {
      in[static_cast<std::size_t>(peer)].assign(kCount, comm.rank() * 10 + peer);
      out[static_cast<std::size_t>(peer)].assign(kCount, -1);
      const Work held =
          comm.send(in[static_cast<std::size_t>(peer)].data(), kCount, kInt, peer);  // also to itself
      EXPECT(!held.done());
    }
    for (int peer = 0; peer < comm.size(); ++peer)
      (void)comm.recv(out[static_cast<std::size_t>(peer)].data(), kCount, kInt, peer);
    EXPECT_OK(group_end().wait());
    for (int peer = 0; peer < comm.size(); ++peer)
      for (const int x : out[static_cast<std::size_t>(peer)]) EXPECT(x == peer * 10 + comm.rank());
    EXPECT(group_end().wait().code() == ErrorCode::invalid_argument);
  });
  CHECK(wrong == "");
}

TEST_CASE("split, duplicate and subgroup") {
  const Wire wire = GENERATE(Wire::memory, Wire::tcp);
  const std::string wrong = run_world(5, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    auto half = comm.split(comm.rank() % 2, -comm.rank());
    EXPECT_OK(half.status());
    Communicator& h = **half;
    EXPECT(h.size() == (comm.rank() % 2 ? 2 : 3));
    // Ordered by key, so by falling rank.
    std::vector<int> order(static_cast<std::size_t>(h.size()), -1);
    const int me = comm.rank();
    EXPECT_OK(h.all_gather(&me, order.data(), 1, kInt).wait());
    for (std::size_t i = 1; i < order.size(); ++i) EXPECT(order[i] == order[i - 1] - 2);

    auto none = comm.split(comm.rank() == 2 ? -1 : 7);
    EXPECT_OK(none.status());
    EXPECT(none->has_value() == (comm.rank() != 2));
    auto copy = comm.duplicate();
    EXPECT_OK(copy.status());
    const std::array<Rank, 3> list{4, 0, 2};
    auto some = comm.subgroup(list);
    EXPECT_OK(some.status());
    EXPECT(some->has_value() == (comm.rank() % 2 == 0));
    if (*some) EXPECT((*some)->rank() == (comm.rank() == 4 ? 0 : comm.rank() == 0 ? 1 : 2));
    EXPECT(comm.subgroup(std::array<Rank, 2>{1, 9}).status().code() == ErrorCode::invalid_argument);

    // All at once, each with its own sums.
    std::vector<int> a(7, 1), b(7, 2), c(7, 4);
    std::vector<Work> works{sum(comm, a), sum(h, b), sum(*copy, c)};
    EXPECT_OK(Work::wait_all(works));
    EXPECT(a[6] == 5 && b[6] == 2 * h.size() && c[6] == 20);
    half->reset();  // destroying one leaves the others alone
    EXPECT_OK(comm.barrier().wait());
  });
  CHECK(wrong == "");
}

TEST_CASE("several threads call on several communicators") {
  const Wire wire = GENERATE(Wire::shm, Wire::tcp);
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    std::vector<Communicator> own;
    for (int t = 0; t < 3; ++t) {
      auto made = comm.duplicate();
      EXPECT_OK(made.status());
      own.push_back(*std::move(made));
    }
    std::vector<std::thread> threads;
    std::atomic<int> bad{0};
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        for (int i = 0; i < 150; ++i) {
          std::vector<int> data(1 + random() % 3000, t + i);
          if (!sum(own[static_cast<std::size_t>(t)], data).wait().ok() || data.back() != 3 * (t + i)) ++bad;
        }
      });
    for (std::thread& t : threads) t.join();
    EXPECT(bad == 0);
  });
  CHECK(wrong == "");
}

TEST_CASE("who has done its part may leave before the others have begun") {
  const Wire wire = GENERATE(Wire::shm, Wire::shm_messages, Wire::tcp);
  const std::size_t count = GENERATE(1, 1000, 10'000);
  CAPTURE(name_of(wire), count);
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    auto other = comm.duplicate();
    EXPECT_OK(other.status());
    std::optional<Communicator> mine(*std::move(other));
    std::vector<std::uint8_t> data(count, comm.rank() == 0 ? 7 : 0);
    if (comm.rank() != 0) EXPECT_OK(comm.barrier().wait());  // until the root has left
    EXPECT_OK(mine->broadcast(data.data(), data.data(), count, DataType::uint8, 0).wait());
    mine.reset();
    if (comm.rank() == 0) EXPECT_OK(comm.barrier().wait());
    EXPECT(data.back() == 7);
  });
  CHECK(wrong == "");
}

TEST_CASE("small calls leave the engine to what is under way") {
  const std::string wrong = run_world(2, {.wire = Wire::shm, .communicator = {}}, [](Communicator& comm) {
    Communicator other = *comm.duplicate();
    std::vector<int> large(3'000'000, comm.rank() + 1);
    std::atomic<int> ended{0};
    const Work work = sum(other, large);
    work.then([&](const Status&) { ended = 1; });
    for (int both = 0; both < 2;) {  // nobody waits for the large one
      int mine = ended;
      EXPECT_OK(comm.all_reduce(&mine, &both, 1, DataType::int32, ReduceOp::sum).wait());
    }
    EXPECT_OK(work.status());
    EXPECT(large.back() == 3);
  });
  CHECK(wrong == "");
}

TEST_CASE("hundreds of communicators of one job share one engine, and leave room for others") {
  const std::string wrong = run_world(4, {.wire = Wire::shm, .communicator = {}}, [](Communicator& comm) {
    for (int round = 0; round < 2; ++round) {
      std::vector<Communicator> many;
      for (int i = 0; i < 400; ++i) many.push_back(*comm.duplicate());
      std::vector<std::vector<int>> data(many.size(), std::vector<int>(3, 1));
      std::vector<Work> works;
      for (std::size_t i = 0; i < many.size(); ++i) works.push_back(sum(many[i], data[i]));
      EXPECT_OK(Work::wait_all(works));
      for (const auto& d : data) EXPECT(d[2] == 4);
    }
  });
  CHECK(wrong == "");
}
