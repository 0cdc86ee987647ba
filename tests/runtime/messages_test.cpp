// Point to point: small messages that are over at once, and all others, in any mixture.
#include <catch2/catch.hpp>

#include <atomic>
#include <random>
#include <thread>

#include "tests/support/world.hpp"

using namespace strata;
using namespace strata::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kByte = DataType::uint8;

// The i-th message from one rank to another: how long it is, and each byte of it.
std::size_t length_of(int from, int to, int i) {
  std::minstd_rand random(static_cast<unsigned>(1 + from + 10 * to + 100 * i));
  const std::size_t limits[] = {0, 8, 64, 300, 16'384, 16'385, 100'000};
  return std::uniform_int_distribution<std::size_t>(0, limits[random() % std::size(limits)])(random);
}
std::uint8_t byte_of(int from, int to, int i, std::size_t at) {
  return static_cast<std::uint8_t>(from * 7 + to * 31 + i * 3 + static_cast<int>(at * 13));
}

std::vector<std::uint8_t> message(int from, int to, int i) {
  std::vector<std::uint8_t> bytes(length_of(from, to, i));
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = byte_of(from, to, i, at);
  return bytes;
}

constexpr int kMessages = 400;

// Waits for each, or for a few at a time, or has groups of them begin together.
void send_all(Communicator& comm, int to, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < kMessages;) {
    const int count = std::min<int>(kMessages - i, static_cast<int>(1 + random() % 5));
    std::vector<std::vector<std::uint8_t>> data;
    for (int k = 0; k < count; ++k) data.push_back(message(comm.rank(), to, i + k));
    std::vector<Work> works;
    const bool together = random() % 3 == 0;
    if (together) group_start();
    for (const auto& d : data) works.push_back(comm.send(d.data(), d.size(), kByte, to));
    if (together) works = {group_end()};
    EXPECT_OK(Work::wait_all(works));
    i += count;
  }
}

void receive_all(Communicator& comm, int from, unsigned seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < kMessages;) {
    const int count = std::min<int>(kMessages - i, static_cast<int>(1 + random() % 5));
    std::vector<std::vector<std::uint8_t>> data;
    for (int k = 0; k < count; ++k) data.emplace_back(length_of(from, comm.rank(), i + k));
    std::vector<Work> works;
    const bool together = random() % 3 == 0;
    if (together) group_start();
    for (auto& d : data) works.push_back(comm.recv(d.data(), d.size(), kByte, from));
    if (together) works = {group_end()};
    if (random() % 2) std::swap(works.front(), works.back());
    EXPECT_OK(Work::wait_all(works));
    for (int k = 0; k < count; ++k)
      EXPECT(data[static_cast<std::size_t>(k)] == message(from, comm.rank(), i + k));
    i += count;
  }
}

}  // namespace

TEST_CASE("messages of all lengths, both ways, by a thread for each direction") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::tcp);
  const unsigned seed = GENERATE(1u, 2u, 3u);
  CAPTURE(name_of(wire), seed);
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    const int other = 1 - comm.rank();
    std::string trouble;
    std::thread sender([&] {
      try {
        send_all(comm, other, seed + static_cast<unsigned>(comm.rank()));
      } catch (const ExpectationFailed& failed) {
        trouble = failed.what();
      }
    });
    try {
      receive_all(comm, other, seed + 7);
    } catch (...) {
      sender.join();
      throw;
    }
    sender.join();
    if (!trouble.empty()) throw ExpectationFailed(trouble);
    EXPECT_OK(comm.barrier().wait());  // nobody leaves before the other has called its last recv
  });
  CHECK(wrong == "");
}

TEST_CASE("messages one after another by one thread, with collectives between") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(3, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    const int next = (comm.rank() + 1) % 3, last = (comm.rank() + 2) % 3;
    for (int i = 0; i < 1000; ++i) {
      auto mine = message(comm.rank(), next, i);
      std::vector<std::uint8_t> theirs(length_of(last, comm.rank(), i));
      const Work sent = comm.send(mine.data(), mine.size(), kByte, next);
      EXPECT_OK(comm.recv(theirs.data(), theirs.size(), kByte, last).wait());
      EXPECT(theirs == message(last, comm.rank(), i));
      EXPECT_OK(sent.wait());
      int sum = i % 50 == 0 ? 1 : 0;
      if (sum) EXPECT_OK(comm.all_reduce(&sum, &sum, 1, DataType::int32, ReduceOp::sum).wait());
      EXPECT(sum == (i % 50 == 0 ? 3 : 0));
    }
    EXPECT_OK(comm.barrier().wait());
  });
  CHECK(wrong == "");
}

TEST_CASE("a callback of a message that was waited for sends the next one") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::tcp);
  CAPTURE(name_of(wire));
  const std::string wrong = run_world(2, {.wire = wire, .communicator = {}}, [&](Communicator& comm) {
    const int other = 1 - comm.rank();
    for (int i = 0; i < 200; ++i) {
      int in = -1;
      std::atomic<bool> answered{false};
      if (comm.rank() == 0) {
        EXPECT_OK(comm.send(&i, 1, DataType::int32, other).wait());
        EXPECT_OK(comm.recv(&in, 1, DataType::int32, other).wait());
      } else {
        const Work came = comm.recv(&in, 1, DataType::int32, other);
        Work answer;
        came.then([&](const Status&) {
          answer = comm.send(&i, 1, DataType::int32, other);
          answered = true;
        });
        EXPECT_OK(came.wait());
        while (!answered) std::this_thread::yield();
        EXPECT_OK(answer.wait());
      }
      EXPECT(in == i);
    }
    EXPECT_OK(comm.barrier().wait());
  });
  CHECK(wrong == "");
}
