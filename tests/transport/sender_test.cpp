// The order in which queued messages go out: by priority, first come first served, and nobody starves.
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>

#include "ccl/transport/stream/sender.hpp"

namespace strata::stream {
namespace {

constexpr std::uint64_t kFragment = 16 << 10;

// A sender of which every fragment is taken at once, and what went out.
class Bench final {
 public:
  // Messages are named by their numbers, whatever their communicator.
  void queue(std::uint32_t message, std::uint64_t length, std::int32_t priority,
             std::uint32_t communicator = 1) {
    WireOp op;
    op.peer = 1;
    op.tag = {.operation = 1, .communicator = communicator, .message = message};
    op.data = memory_.data();
    op.length = length;
    op.priority = priority;
    Message& added = ledger_.add(MessageState::queued, op);
    added.announced = true;  // any length may go
    sender_.enqueue(added);
  }
  // The message of the next fragment.
  std::uint32_t send() {
    if (batch_.empty()) sender_.fill(batch_, false);
    REQUIRE_FALSE(batch_.empty());
    if (sent_.empty()) batch_.write(pipe_, [this](const Batch::Frame& f) { took(f); });
    const std::uint32_t message = sent_.front();
    sent_.pop_front();
    return message;
  }
  bool idle() const { return sent_.empty() && !sender_.has_output(false); }

 private:
  struct Taking final : Pipe {
    std::size_t write(std::span<const iovec> parts) override {
      std::size_t bytes = 0;
      for (const iovec& part : parts) bytes += part.iov_len;
      return bytes;
    }
    std::span<const std::byte> peek() override { return {}; }
    void consume(std::size_t) override {}
    std::size_t read(std::span<std::byte>) override { return 0; }
    Status status() const override { return {}; }
  };
  void took(const Batch::Frame& frame) {
    sent_.push_back(frame.header.tag.message);
    sender_.finish(frame);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(1024 * kFragment);
  Ledger ledger_{2};
  Sender sender_{ledger_};
  Batch batch_{kFragment};
  Taking pipe_;
  std::deque<std::uint32_t> sent_;
};

}  // namespace

TEST_CASE("what is passed over has every 64th fragment, the oldest first") {
  Bench bench;
  bench.queue(1, 3 * kFragment, 0);
  bench.queue(2, 2 * kFragment, -5);
  bench.queue(3, 1000 * kFragment, 7);
  std::vector<std::size_t> turns;
  std::vector<std::uint32_t> whose;
  for (std::size_t i = 0; i < 400; ++i)
    if (const std::uint32_t message = bench.send(); message != 3) {
      turns.push_back(i);
      whose.push_back(message);
    }
  REQUIRE(whose.size() >= 5);
  whose.resize(5);
  CHECK(whose == std::vector<std::uint32_t>{1, 1, 1, 2, 2});
  for (std::size_t i = 0, before = 0; i < 5; before = turns[i++] + 1)
    CHECK(turns[i] - before <= Sender::kPassedFragmentsMax);
}

TEST_CASE("what is urgent waits for one fragment of the oldest in 64 at most, and for no other") {
  Bench bench;
  for (std::uint32_t message = 1; message <= 9; ++message) bench.queue(message, 100 * kFragment, 0);
  bench.queue(10, 640 * kFragment, 1);
  std::size_t others = 0;
  for (std::size_t own = 0; own < 640;) bench.send() == 10 ? ++own : ++others;
  CHECK(others >= 9);
  CHECK(others <= 11);
}

TEST_CASE("small messages without end do not starve a large one") {
  Bench bench;
  bench.queue(0, 10 * kFragment, 0);
  std::size_t turns = 0, small = 0;
  for (std::uint32_t message = 1; turns < 10; ++message) {
    bench.queue(message, 0, 1);
    bench.send() == 0 ? ++turns : ++small;
    REQUIRE(small <= 11 * (Sender::kPassedFragmentsMax + 1) * kFragment / kFrameBytes);
  }
}

TEST_CASE("two communicators of one priority: neither waits for more than the other has queued already") {
  Bench bench;
  std::uint32_t next = 0;
  for (int i = 0; i < 5; ++i) bench.queue(next++, 4 * kFragment, 0, 1);
  const std::uint32_t other = next++;
  bench.queue(other, kFragment, 0, 2);
  for (std::uint32_t before = 0; bench.send() != other; ++before) {
    REQUIRE(before < 5 * 4);
    bench.queue(next++, 4 * kFragment, 0, 1);  // the first one goes on and on
  }
  // And the other way round, when the second one floods.
  for (int i = 0; i < 500; ++i) bench.queue(next++, kFragment, 0, 2);
  const std::uint32_t late = next++;
  bench.queue(late, kFragment, 0, 1);
  std::uint32_t last = other;
  for (std::uint32_t message = bench.send(); message != late; message = bench.send()) {
    CHECK(message >= last);  // in the order of their posts
    last = message;
    bench.queue(next++, kFragment, 0, 2);
  }
}

TEST_CASE("every message goes out whole, whatever the priorities, and lets few pass") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    Bench bench;
    std::map<std::uint32_t, std::pair<int, std::size_t>> left;  // fragments; sent before it may end at last
    std::size_t sent = 0, queued = 0;
    std::uint32_t next = 0;
    const auto send = [&] {
      const std::uint32_t message = bench.send();
      ++sent;
      auto& [fragments, limit] = left.at(message);
      REQUIRE(sent <= limit);
      if (--fragments > 0) return;
      left.erase(message);
    };
    for (int step = 0; step < 500; ++step) {
      const int fragments = pick(1, 8);
      queued = static_cast<std::size_t>(fragments);
      for (const auto& [message, one] : left) queued += static_cast<std::size_t>(one.first);
      left[next] = {fragments, sent + (queued + 1) * (Sender::kPassedFragmentsMax + 2)};
      bench.queue(next++, static_cast<std::uint64_t>(fragments) * kFragment, pick(-2, 2));
      for (int i = pick(0, 8); i > 0 && !left.empty(); --i) send();
    }
    while (!left.empty()) send();
    CHECK(bench.idle());
  }
}

}  // namespace strata::stream
