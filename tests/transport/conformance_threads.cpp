// Laws that need a thread for each rank: full duplex floods, and sleeping on the descriptor without losing a
// wake-up.
#include <poll.h>

#include <array>
#include <atomic>
#include <thread>

#include "tests/transport/conformance.hpp"

namespace strata::test {
namespace {

constexpr int kTooLongMs = 30'000;  // a bound for failure, not a wait

struct KeepAll final : Listener {
  Verdict unexpected(Rank, const Tag&, const Fingerprint&) override { return Verdict::keep; }
};

std::byte pattern(Rank from, std::uint32_t message, std::size_t i) {
  return static_cast<std::byte>(static_cast<std::size_t>(from) * 59 + message * 13 + i * 3 + (i >> 8));
}

// One rank's side of a flood of messages between all pairs, or of a ping-pong. Reports errors as text, since
// the test framework's macros belong to one thread.
class Station final {
 public:
  Station(Transport& transport, Rank rank, int ranks) : transport_(transport), rank_(rank), ranks_(ranks) {}

  void post(WireKind kind, Rank peer, std::uint32_t message, std::size_t length) {
    auto& buffer = buffers_.emplace_back(length);
    if (kind == WireKind::send) fill(buffer, rank_, message);
    WireOp op;
    op.kind = kind;
    op.peer = peer;
    op.tag = {.operation = 5, .communicator = 1, .message = message};
    op.fingerprint.count = length;
    op.data = buffer.data();
    op.length = length;
    op.cookie = ops_.size();
    ops_.push_back({kind, peer, message});
    ++pending_;
    transport_.post(op);
  }

  void flood(std::uint32_t messages) {
    for (std::uint32_t m = 0; m < messages; ++m) {
      for (Rank peer = 0; peer < ranks_; ++peer) {
        if (peer == rank_) continue;
        const std::size_t length = m % 5 == 0 ? 60'000 + m * 7 : m * 37 % 5000;
        // Ranks go through the messages in different orders.
        post(rank_ % 2 ? WireKind::send : WireKind::recv, peer, m, length);
        post(rank_ % 2 ? WireKind::recv : WireKind::send, peer, m, length);
      }
      if (m % 8 == 7) wait_until_pending(200);
    }
    wait_until_pending(0);
  }

  void ping_pong(std::uint32_t rounds, std::size_t length) {
    for (std::uint32_t m = 0; m < rounds && error.empty(); ++m) {
      post(m % 2 == static_cast<std::uint32_t>(rank_) ? WireKind::send : WireKind::recv, 1 - rank_, m,
           length);
      wait_until_pending(0);
    }
  }

  std::string error;

 private:
  struct Op {
    WireKind kind;
    Rank peer;
    std::uint32_t message;
  };

  static void fill(std::vector<std::byte>& buffer, Rank from, std::uint32_t message) {
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = pattern(from, message, i);
  }

  void wait_until_pending(std::size_t few) {
    while (pending_ > few && error.empty()) {
      if (take() == 0) sleep();
    }
  }

  std::size_t take() {
    std::array<Completion, kCompletionsPerPollMax> completions;
    const std::size_t count = transport_.poll(completions);
    for (const Completion& completion : std::span(completions).first(count)) {
      if (completion.error != ErrorCode::ok) error = "an op failed";
      const Op& op = ops_[completion.cookie];
      auto& buffer = buffers_[completion.cookie];
      if (op.kind == WireKind::recv) {
        std::vector<std::byte> expected(buffer.size());
        fill(expected, op.peer, op.message);
        if (buffer != expected) error = "wrong bytes in message " + std::to_string(op.message);
      }
      std::vector<std::byte>().swap(buffer);
      --pending_;
    }
    return count;
  }

  void sleep() {
    if (transport_.wait_descriptor() < 0) return std::this_thread::yield();
    if (transport_.prepare_to_sleep()) {
      pollfd descriptor{transport_.wait_descriptor(), POLLIN, 0};
      if (::poll(&descriptor, 1, kTooLongMs) <= 0) error = "not woken up";
    }
    transport_.woke_up();
  }

  Transport& transport_;
  const Rank rank_;
  const int ranks_;
  std::vector<Op> ops_;
  std::deque<std::vector<std::byte>> buffers_;
  std::size_t pending_ = 0;
};

template <class Part>
void with_threads(int ranks, Part part) {
  for (const Instance& instance : instances()) {
    INFO("transport: " << instance.name);
    std::vector<KeepAll> listeners(static_cast<std::size_t>(ranks));
    std::vector<Listener*> pointers;
    for (KeepAll& listener : listeners) pointers.push_back(&listener);
    Ends ends = instance.make(pointers, 1);
    std::vector<Station> stations;
    for (Rank rank = 0; rank < ranks; ++rank)
      stations.emplace_back(*ends[static_cast<std::size_t>(rank)], rank, ranks);
    std::vector<std::thread> threads;
    for (Station& station : stations) threads.emplace_back([&] { part(station); });
    for (std::thread& thread : threads) thread.join();
    for (const Station& station : stations) CHECK(station.error == "");
  }
}

TEST_CASE("floods in both directions among threads") {
  with_threads(2, [](Station& station) { station.flood(300); });
  with_threads(4, [](Station& station) { station.flood(60); });
}

TEST_CASE("no wake-up is lost") {
  for (const std::size_t length : {0, 8, 20'000, 400'000}) {
    CAPTURE(length);
    with_threads(2, [length](Station& station) { station.ping_pong(length > 100'000 ? 10 : 100, length); });
  }
}

// The listener must hear of it, though no op of the sleeper has ended.
TEST_CASE("a message that nobody waits for wakes a sleeper") {
  for_each_transport(2, [](World& world) {
    for (const std::uint64_t length : {0, 100'000}) {
      const int descriptor = world.at(1).wait_descriptor();
      if (descriptor < 0) return;
      const auto told_before = world.listener(1).told.size();
      while (!world.at(1).prepare_to_sleep()) {
        world.at(1).woke_up();
        world.poll(1);
      }
      world.post_send(world.parcel(0, 1, length));
      pollfd event{descriptor, POLLIN, 0};
      for (int left = kTooLongMs; left > 0 && ::poll(&event, 1, 1) == 0; --left) world.poll(0);
      REQUIRE(event.revents != 0);
      world.at(1).woke_up();
      REQUIRE(world.run([&] { return world.listener(1).told.size() > told_before; }));
    }
  });
}

}  // namespace
}  // namespace strata::test
