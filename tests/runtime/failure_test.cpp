// Ranks that disagree, leave, abort, or are late: the same error at all ranks, naming who, and never a hang.
#include <catch2/catch.hpp>

#include <mutex>
#include <thread>

#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr auto kInt = DataType::int32;

// Runs body on each rank and collects the status each ended with.
std::vector<Status> statuses(int size, Wire wire, std::uint32_t timeout_ms,
                             const std::function<Status(Communicator&)>& body) {
  std::vector<Status> ended(static_cast<std::size_t>(size));
  CommunicatorOptions options;
  options.timeout_ms = timeout_ms;
  const std::string wrong = run_world(size, {.wire = wire, .communicator = options}, [&](Communicator& comm) {
    ended[static_cast<std::size_t>(comm.rank())] = body(comm);
  });
  CHECK(wrong == "");
  return ended;
}

bool contains(const Status& s, const std::string& text) {
  return s.message().find(text) != std::string_view::npos;
}

struct Mismatch {
  const char* name;
  std::function<Work(Communicator&, std::vector<int>&, std::vector<int>&)> odd, even;
};

}  // namespace

TEST_CASE("a mismatched call is the same error at every rank and names both sides") {
  using Buffer = std::vector<int>;
  const auto all_reduce = [](std::uint64_t count, DataType type, ReduceOp op) {
    return [=](Communicator& c, Buffer& in, Buffer& out) {
      return c.all_reduce(in.data(), out.data(), count, type, op);
    };
  };
  const auto broadcast = [](Rank root, std::uint64_t count) {
    return [=](Communicator& c, Buffer& in, Buffer& out) {
      return c.broadcast(in.data(), out.data(), count, kInt, root);
    };
  };
  const std::vector<Mismatch> mismatches{
      {"count, small", all_reduce(10, kInt, ReduceOp::sum), all_reduce(11, kInt, ReduceOp::sum)},
      {"count, large", all_reduce(200'000, kInt, ReduceOp::sum), all_reduce(200'001, kInt, ReduceOp::sum)},
      {"count, small and large", all_reduce(10, kInt, ReduceOp::sum),
       all_reduce(200'000, kInt, ReduceOp::sum)},
      {"type", all_reduce(10, kInt, ReduceOp::sum), all_reduce(10, DataType::float32, ReduceOp::sum)},
      {"operation", all_reduce(10, kInt, ReduceOp::sum), all_reduce(10, kInt, ReduceOp::max)},
      {"root", broadcast(0, 10), broadcast(1, 10)},
      {"root, large", broadcast(0, 100'000), broadcast(1, 100'000)},
      {"collective", all_reduce(10, kInt, ReduceOp::sum),
       [](Communicator& c, Buffer&, Buffer&) { return c.barrier(); }},
      {"algorithm",
       [](Communicator& c, Buffer& in, Buffer& out) {
         return c.all_reduce(in.data(), out.data(), 1000, kInt, ReduceOp::sum, {.algorithm = "ring"});
       },
       all_reduce(1000, kInt, ReduceOp::sum)},
  };
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  const int size = GENERATE(2, 3);
  for (const Mismatch& m : mismatches) {
    CAPTURE(name_of(wire), size, m.name);
    const auto ended = statuses(size, wire, 30'000, [&](Communicator& comm) {
      Buffer in(200'001, 1), out(200'001);
      const Status first = (comm.rank() == 1 ? m.odd : m.even)(comm, in, out).wait();
      // A call that needed nothing of the others may have ended well; the communicator fails all the same.
      const Status second = comm.barrier().wait();
      if (!first.ok()) EXPECT(first.message() == second.message());
      return second;
    });
    for (const Status& s : ended) {
      CAPTURE(s.message());
      CHECK(s.code() == ErrorCode::mismatch);
      CHECK((contains(s, "rank 0 (host") || contains(s, "rank 2 (host")));
      CHECK(contains(s, "rank 1 (host"));
    }
  }
}

TEST_CASE("send and receive that differ are a mismatch, whatever the sizes and whoever comes first") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  const std::uint64_t sent = GENERATE(4, 100'000), received = GENERATE(5, 100'001);
  const bool sender_first = GENERATE(false, true);
  CAPTURE(name_of(wire), sent, received, sender_first);
  const auto ended = statuses(2, wire, 30'000, [&](Communicator& comm) {
    std::vector<int> data(100'001);
    const auto mine = [&] {
      return comm.rank() == 0 ? comm.send(data.data(), sent, kInt, 1)
                              : comm.recv(data.data(), received, kInt, 0);
    };
    if ((comm.rank() == 0) == sender_first) {
      const Work work = mine();
      EXPECT_OK(comm.barrier().wait());
      (void)work.wait();
    } else {
      EXPECT_OK(comm.barrier().wait());
      (void)mine().wait();
    }
    return comm.barrier().wait();
  });
  for (const Status& s : ended) {
    CAPTURE(s.message());
    CHECK(s.code() == ErrorCode::mismatch);
  }
}

TEST_CASE("a rank that does not call is named at the deadline") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  const auto ended = statuses(3, wire, 200, [](Communicator& comm) {
    EXPECT_OK(comm.barrier().wait());
    int x = 1;
    if (comm.rank() != 2) return comm.all_reduce(&x, &x, 1, kInt, ReduceOp::sum).wait();
    while (comm.status().ok()) std::this_thread::yield();
    return comm.barrier().wait();
  });
  for (const Status& s : ended) {
    CAPTURE(s.message());
    CHECK(s.code() == ErrorCode::timeout);
    CHECK(contains(s, "rank 2 (host"));
    CHECK(contains(s, "has not called it, only 1 operations before"));
    CHECK(contains(s, "all_reduce #1 all_reduce(count 1, int32, sum)"));
  }
}

TEST_CASE("a receive without a send ends at its own deadline") {
  const auto ended = statuses(2, Wire::shm, 60'000, [](Communicator& comm) {
    int x = 0;
    if (comm.rank() == 0) return comm.recv(&x, 1, kInt, 1, {.timeout_ms = 100}).wait();
    while (comm.status().ok()) std::this_thread::yield();
    return comm.status();
  });
  for (const Status& s : ended) {
    CAPTURE(s.message());
    CHECK(s.code() == ErrorCode::timeout);
    CHECK(contains(s, "rank 1 (host"));
    CHECK(contains(s, "has not called its side of it"));
  }
}

TEST_CASE("abort reaches everybody, with its reason") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  const auto ended = statuses(3, wire, 30'000, [](Communicator& comm) {
    int x = 0;
    if (comm.rank() == 1) comm.abort("loss is not a number");
    return comm.all_reduce(&x, &x, 1, kInt, ReduceOp::sum).wait();
  });
  for (const Status& s : ended) {
    CAPTURE(s.message());
    CHECK(s.code() == ErrorCode::aborted);
    CHECK(contains(s, "loss is not a number"));
    CHECK(contains(s, "rank 1 (host"));
  }
}

TEST_CASE("who destroys a communicator that others use ends their operations, not their process") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  std::vector<Status> ended(3);
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    auto copy = comm.duplicate();
    EXPECT_OK(copy.status());
    if (comm.rank() == 0) {
      const Communicator gone = *std::move(copy);
    } else {
      ended[static_cast<std::size_t>(comm.rank())] = copy->barrier().wait();
      EXPECT(copy->barrier().wait().message() == ended[static_cast<std::size_t>(comm.rank())].message());
    }
    EXPECT_OK(comm.barrier().wait());  // the first one lives
  });
  CHECK(wrong == "");
  for (int r : {1, 2}) {
    CAPTURE(ended[static_cast<std::size_t>(r)].message());
    CHECK(ended[static_cast<std::size_t>(r)].code() == ErrorCode::aborted);
    CHECK(contains(ended[static_cast<std::size_t>(r)], "rank 0 (host"));
  }
}

TEST_CASE("operations that could still end well do, when a rank leaves after its part") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    // The sender leaves with its messages still on the way.
    std::vector<int> data(3'000'000, comm.rank());
    EXPECT_OK((comm.rank() == 0 ? comm.send(data.data(), data.size(), kInt, 1)
                                : comm.recv(data.data(), data.size(), kInt, 0))
                  .wait());
    for (const int x : data) EXPECT(x == 0);
  });
  CHECK(wrong == "");
}
