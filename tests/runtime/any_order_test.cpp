// Operations with names: submitted in any order at any rank, with waits between, beside others without names.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <unordered_map>

#include "ccl/runtime/names.hpp"
#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kInt = DataType::int32;

Work sum(Communicator& comm, std::vector<int>& data, const CallOptions& options) {
  return comm.all_reduce(data.data(), data.data(), data.size(), kInt, ReduceOp::sum, options);
}

// The operations of one round, the same at every rank: those with odd numbers have names.
struct Round {
  std::vector<std::size_t> sizes;
  explicit Round(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < count; ++i)
      sizes.push_back(random() % 5 == 0 ? 1 + random() % 20'000 : 1 + random() % 60);
  }
};

// A rank waits for an operation only when it has submitted all before that one. Then the first one that has
// not ended has been submitted by every rank that waits, so whatever hangs is the library's fault.
void play(Communicator& comm, const Round& round, std::uint64_t seed, bool all_named) {
  std::mt19937_64 random(seed * 1000 + static_cast<unsigned>(comm.rank()));
  const std::size_t count = round.sizes.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  if (!all_named) {  // those without names keep their order
    std::vector<std::size_t> unnamed;
    for (std::size_t i = 0; i < count; i += 2) unnamed.push_back(i);
    auto next = unnamed.begin();
    for (std::size_t& i : order)
      if (i % 2 == 0) i = *next++;
  }
  std::vector<std::vector<int>> data(count);
  std::vector<Work> works(count);
  std::vector<bool> submitted(count, false);
  std::size_t prefix = 0;  // all before it are submitted
  for (const std::size_t i : order) {
    data[i].assign(round.sizes[i], comm.rank() + static_cast<int>(i));
    const std::string name = "gradient " + std::to_string(i);
    const bool named = all_named || i % 2 == 1;
    works[i] = sum(comm, data[i],
                   {.priority = static_cast<std::int32_t>(random() % 5),
                    .name = named ? std::string_view(name) : std::string_view()});
    submitted[i] = true;
    while (prefix < count && submitted[prefix]) ++prefix;
    if (prefix > 0 && random() % 8 == 0) EXPECT_OK(works[random() % prefix].wait());
    if (random() % 16 == 0) std::this_thread::yield();
  }
  EXPECT_OK(Work::wait_all(works));
  const int n = comm.size();
  for (std::size_t i = 0; i < count; ++i)
    for (const int x : data[i]) EXPECT(x == n * (n - 1) / 2 + n * static_cast<int>(i));
}

void play_seeds(Wire wire, int ranks, std::size_t operations, std::uint64_t first, std::uint64_t seeds) {
  CAPTURE(name_of(wire), ranks, first);
  const std::string wrong = run_world(ranks, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
      try {
        play(comm, Round(seed, operations), seed, seed % 2 == 0);
      } catch (const ExpectationFailed& failure) {
        throw ExpectationFailed("seed " + std::to_string(seed) + ": " + failure.what());
      }
    }
  });
  REQUIRE(wrong == "");
}

}  // namespace

TEST_CASE("who waits for one before it submits the next meets who has submitted both, in any order") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{500'000}}) {
      std::vector<int> one(size, 1), two(size, 2);
      if (comm.rank() == 0) {
        EXPECT_OK(sum(comm, one, {.name = "one"}).wait());
        EXPECT_OK(sum(comm, two, {.name = "two"}).wait());
      } else {
        const std::vector<Work> works{sum(comm, two, {.name = "two"}), sum(comm, one, {.name = "one"})};
        EXPECT_OK(Work::wait_all(works));
      }
      EXPECT(one.back() == 2);
      EXPECT(two.back() == 4);
    }
  });
  CHECK(wrong == "");
}

TEST_CASE("messages with names pass those without, both ways and to oneself") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    const int other = 1 - comm.rank();
    std::vector<int> out{10, 11, 12, 13}, in(4, -1);
    const auto send = [&](int i, Rank to, std::string_view name) {
      return comm.send(&out[static_cast<std::size_t>(i)], 1, kInt, to, {.name = name});
    };
    const auto recv = [&](int i, Rank from, std::string_view name) {
      return comm.recv(&in[static_cast<std::size_t>(i)], 1, kInt, from, {.name = name});
    };
    std::vector<Work> works{send(0, other, ""),  send(1, other, "a"), send(2, other, "b"),
                            send(3, other, "a"), recv(2, other, "b"), recv(1, other, "a"),
                            recv(3, other, "a"), recv(0, other, "")};
    EXPECT_OK(Work::wait_all(works));
    EXPECT(in == out);
    const Work received = recv(0, comm.rank(), "self");
    EXPECT_OK(send(1, comm.rank(), "self").wait());
    EXPECT_OK(received.wait());
    EXPECT(in[0] == 11);
  });
  CHECK(wrong == "");
}

TEST_CASE("any order at every rank, with waits between, gives every sum") {
  play_seeds(Wire::memory, 8, 64, 1, 60);
  play_seeds(Wire::shm, 4, 64, 100, 20);
  play_seeds(Wire::shm_messages, 8, 64, 200, 20);
  play_seeds(Wire::tcp, 3, 64, 300, 20);
}

TEST_CASE("ten thousand seeds of any order", "[.][soak]") {
  for (std::uint64_t first = 1; first <= 10'000; first += 100)
    play_seeds(first % 200 == 1 ? Wire::memory : Wire::shm_messages, 8, 64, first, 100);
}

TEST_CASE("ranks that call different things by one name are told both, and the name") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    std::vector<int> data(comm.rank() == 0 ? 3 : 4, 1);
    const Status status = sum(comm, data, {.name = "bias"}).wait();
    EXPECT(status.code() == ErrorCode::mismatch);
    for (const std::string_view part : {"'bias'", "count 3", "count 4"})
      EXPECT(status.message().find(part) != std::string_view::npos);
  });
  CHECK(wrong == "");
}

TEST_CASE("a rank that leaves without having called a name ends what waits for it, and nothing else") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [](Communicator& comm) {
    auto own = comm.duplicate();
    EXPECT_OK(own.status());
    std::vector<int> both(10, 1), more(10, 1);
    EXPECT_OK(sum(*own, both, {.name = "both"}).wait());
    if (comm.rank() == 0) {
      const Status status = sum(*own, more, {.name = "both"}).wait();
      EXPECT(status.code() == ErrorCode::aborted);
      EXPECT(status.message().find("has left the communicator") != std::string_view::npos);
    }
    own = Status(ErrorCode::aborted, "");  // rank 1 leaves at once
    EXPECT_OK(comm.barrier().wait());
  });
  CHECK(wrong == "");
}

TEST_CASE("a name that one rank has not called is named at the time-out") {
  CommunicatorOptions options;
  options.timeout_ms = 300;
  const std::string wrong =
      run_world(2, {.wire = Wire::memory, .communicator = options}, [](Communicator& comm) {
        std::vector<int> data(10, 1);
        if (comm.rank() == 1) {
          while (comm.status().ok()) std::this_thread::sleep_for(1ms);
          return;
        }
        EXPECT_OK([&] {
          const Status status = sum(comm, data, {.name = "only here"}).wait();
          const bool right = status.code() == ErrorCode::timeout &&
                             status.message().find("'only here'") != std::string_view::npos &&
                             status.message().find("has not called it") != std::string_view::npos;
          return right ? Status() : status;
        }());
      });
  CHECK(wrong == "");
}

TEST_CASE("common memory cannot be forced on a call with a name") {
  const std::string wrong = run_world(2, {.wire = Wire::shm, .communicator = {}}, [](Communicator& comm) {
    std::vector<int> data(10, 1);
    const Status status = sum(comm, data, {.name = "x", .algorithm = "shared_memory"}).wait();
    EXPECT(status.code() == ErrorCode::invalid_argument);
    EXPECT(status.message().find("give no name") != std::string_view::npos);
  });
  CHECK(wrong == "");
}

TEST_CASE("numbers of operations: kinds apart, calls in order, also when their count goes round") {
  CHECK(message_bits(2, 5) != message_bits(5, 2));
  for (const auto& [me, peer] : {std::pair<Rank, Rank>{2, 5}, {5, 2}}) {
    CHECK(goes_out(message_bits(me, peer), me, peer));
    CHECK_FALSE(goes_out(message_bits(peer, me), me, peer));
  }
  const std::uint64_t name = name_bits("x");
  CHECK(is_named(name));
  CHECK_FALSE(is_point_to_point(name));
  CHECK(with_call(name, 5) != with_call(name, 6));
  CHECK(count_of(with_call(name, 5)) == 5);
  CHECK(without_call(with_call(name, 5)) == name);
  for (const std::uint64_t base : {std::uint64_t{0}, kCallMask - 2, kCallMask}) {
    for (std::uint64_t i = 0; i < 5; ++i)
      for (std::uint64_t n = 0; n < 5; ++n)
        CHECK(is_before((base + i) & kCallMask, (base + n) & kCallMask) == (i < n));
  }
}

TEST_CASE("two names of one identity are refused") {
  std::unordered_map<std::uint64_t, int> known;
  Names names;
  for (int i = 0;; ++i) {
    REQUIRE(i < 4'000'000);
    const auto [at, fresh] = known.try_emplace(name_bits(std::to_string(i)), i);
    if (fresh) continue;
    REQUIRE(names.next(std::to_string(at->second), 0, kNoRank).ok());
    const auto refused = names.next(std::to_string(i), 0, kNoRank);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == ErrorCode::invalid_argument);
    CHECK(refused.status().message().find("change one of them") != std::string_view::npos);
    return;
  }
}
