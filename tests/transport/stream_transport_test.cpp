// The stream protocol seen from the wire: which frames go out, in which order, and what a bad peer achieves.
#include <array>
#include <catch2/catch.hpp>

#include "tests/transport/scripted_pipe.hpp"

namespace strata::test {
namespace {

using namespace stream;

struct Answering final : Listener {
  Verdict unexpected(Rank, const Tag&, const Fingerprint&) override { return verdict; }
  Verdict verdict = Verdict::keep;
};

// Rank 0 with the test as rank 1.
class Bench final {
 public:
  Bench()
      : script(std::make_shared<Script>()),
        transport(make_stream_transport(std::make_unique<ScriptedPipes>(script), listener)) {}

  WireOp op(WireKind kind, std::uint32_t message, std::uint64_t length, std::int32_t priority = 0) {
    memory_.resize(std::max<std::size_t>(memory_.size(), 4 << 20));
    WireOp op;
    op.kind = kind;
    op.peer = 1;
    op.priority = priority;
    op.tag = {.operation = 1, .communicator = 1, .message = message};
    op.data = memory_.data();
    op.length = length;
    op.cookie = message;
    return op;
  }
  void post(WireKind kind, std::uint32_t message, std::uint64_t length, std::int32_t priority = 0) {
    transport->post(op(kind, message, length, priority));
  }
  FrameHeader frame(FrameKind kind, std::uint32_t message, std::uint64_t length) {
    FrameHeader header;
    header.kind = kind;
    header.tag = {.operation = 1, .communicator = 1, .message = message};
    header.length = length;
    return header;
  }
  std::vector<Completion> poll(int times = 1) {
    std::vector<Completion> all;
    std::array<Completion, kCompletionsPerPollMax> some;
    while (times-- > 0) {
      const std::size_t count = transport->poll(some);
      all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return all;
  }
  // The headers written since the last call.
  std::vector<FrameHeader> frames() {
    std::vector<FrameHeader> headers;
    while (seen_ + kFrameBytes <= script->written.size()) {
      FrameHeader header;
      std::memcpy(&header, script->written.data() + seen_, kFrameBytes);
      REQUIRE(check_frame(header).ok());
      seen_ += kFrameBytes + header.fragment;
      headers.push_back(header);
    }
    return headers;
  }

  Answering listener;
  const std::shared_ptr<Script> script;

 private:
  std::vector<std::byte> memory_;
  std::size_t seen_ = 0;

 public:
  const std::unique_ptr<Transport> transport;
};

std::vector<std::uint32_t> messages_of(const std::vector<FrameHeader>& frames) {
  std::vector<std::uint32_t> messages;
  for (const FrameHeader& frame : frames) messages.push_back(frame.tag.message);
  return messages;
}

TEST_CASE("small sends go at once, by priority, then in the order of posts") {
  Bench bench;
  for (const std::uint32_t message : {10, 11, 30, 20, 31, 12, 21}) {
    bench.post(WireKind::send, message, 1000, static_cast<std::int32_t>(message / 10));
  }
  CHECK(bench.poll().size() == 7);
  CHECK(messages_of(bench.frames()) == std::vector<std::uint32_t>{30, 31, 20, 21, 10, 11, 12});
}

TEST_CASE("control frames overtake data, and a higher priority waits for one fragment at most") {
  Bench bench;
  for (const std::uint32_t message : {1, 2})
    bench.script->arrive(bench.frame(FrameKind::ready, message, 1 << 20));
  bench.poll();
  bench.post(WireKind::send, 1, 1 << 20);
  bench.script->room_bytes = kFrameBytes + 1000;  // a fragment has begun
  bench.poll();
  bench.post(WireKind::send, 2, 1 << 20, 1);
  bench.post(WireKind::recv, 3, 1 << 20);  // says ready
  bench.script->room_bytes = ~std::size_t{0};
  bench.poll(20);
  const std::vector<FrameHeader> frames = bench.frames();
  REQUIRE(frames.size() == 17);
  CHECK(messages_of({frames[0], frames[1], frames[2], frames[9], frames[10]}) ==
        std::vector<std::uint32_t>{1, 3, 2, 2, 1});
  CHECK(frames[1].kind == FrameKind::ready);
}

TEST_CASE("large sends ask once and wait for the ready; large receives say it") {
  Bench bench;
  bench.post(WireKind::send, 1, 200'000);
  bench.post(WireKind::recv, 2, 200'000);
  CHECK(bench.poll(3).empty());
  auto frames = bench.frames();
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].kind == FrameKind::request);
  CHECK(frames[1].kind == FrameKind::ready);
  bench.script->arrive(bench.frame(FrameKind::ready, 1, 200'000));
  CHECK(bench.poll(3).size() == 1);
  frames = bench.frames();
  REQUIRE(frames.size() == 2);
  constexpr std::uint64_t kPipeFragment = 128 << 10;  // a pipe's own
  CHECK(frames[0].fragment == kPipeFragment);
  CHECK(frames[1].offset == kPipeFragment);
  CHECK(frames[1].offset + frames[1].fragment == 200'000);
}

// The peer's ready for a small send that has not gone yet can only be a mismatch; what goes out tells the
// peer.
TEST_CASE("a small send finds out about a mismatch while it is in the queue") {
  for (const bool credit : {true, false}) {
    CAPTURE(credit);
    Bench bench;
    const std::uint32_t filling = credit ? 0 : kEagerWindowBytes / eager_cost(kEagerBytesMax);
    for (std::uint32_t i = 0; i < filling; ++i) bench.post(WireKind::send, 100 + i, kEagerBytesMax);
    CHECK(bench.poll(4).size() == filling);
    bench.frames();
    bench.script->room_bytes = 0;
    bench.post(WireKind::recv, 1, 200'000);
    bench.poll();  // its ready is stuck in the pipe
    bench.post(WireKind::send, 2, kEagerBytesMax);
    bench.script->arrive(bench.frame(FrameKind::ready, 2, 300'000));
    CHECK(bench.poll().empty());
    bench.script->room_bytes = ~std::size_t{0};
    const auto completions = bench.poll();
    REQUIRE(completions.size() == 1);
    CHECK(completions[0].cookie == 2);
    CHECK(completions[0].error == ErrorCode::mismatch);
    CHECK(completions[0].their_length == 300'000);
    const auto frames = bench.frames();
    REQUIRE(frames.size() == 2);
    CHECK(frames[1].kind == (credit ? FrameKind::data : FrameKind::request));
    CHECK(frames[1].length == kEagerBytesMax);
  }
}

TEST_CASE("one poll moves a bounded number of bytes, however many there are") {
  constexpr std::size_t kBound = 2 << 20;
  Bench bench;
  for (std::uint32_t message = 0; message < 8; ++message) {
    bench.script->arrive(bench.frame(FrameKind::ready, message, 4 << 20));
    bench.post(WireKind::send, message, 4 << 20);
  }
  bench.poll();
  for (std::size_t before = 0; before < 4 << 20;) {
    bench.poll();
    CHECK(bench.script->written.size() - before <= kBound);
    REQUIRE(bench.script->written.size() > before);
    before = bench.script->written.size();
  }
  Bench other;
  for (std::uint32_t message = 0; message < 100'000; ++message) {
    other.script->arrive(other.frame(FrameKind::request, message % 50'000, message));
  }
  const std::size_t before = other.script->unread();
  other.poll();
  CHECK(before - other.script->unread() <= kBound);
}

TEST_CASE("credit comes back with what goes out anyway, else alone when half is owed") {
  Bench bench;
  FrameHeader eager = bench.frame(FrameKind::data, 0, kEagerBytesMax);
  eager.fragment = kEagerBytesMax;
  const std::vector<std::byte> payload(kEagerBytesMax);
  std::uint32_t owed = 0;
  for (std::uint32_t message = 1; owed + eager_cost(kEagerBytesMax) < kEagerWindowBytes / 2; ++message) {
    bench.post(WireKind::recv, message, kEagerBytesMax);
    eager.tag.message = message;
    bench.script->arrive(eager);
    bench.script->arrive(payload.data(), payload.size());
    owed += eager_cost(kEagerBytesMax);
    CHECK(bench.poll(2).size() == 1);
  }
  CHECK(bench.frames().empty());
  bench.post(WireKind::send, 100, 0);
  bench.poll();
  auto frames = bench.frames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].credit == owed);
  for (std::uint32_t message = 200; message < 220; ++message) {
    bench.post(WireKind::recv, message, kEagerBytesMax);
    eager.tag.message = message;
    bench.script->arrive(eager);
    bench.script->arrive(payload.data(), payload.size());
    bench.poll(2);
  }
  frames = bench.frames();
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].kind == FrameKind::credit);
  CHECK(frames[0].credit >= kEagerWindowBytes / 2);
}

TEST_CASE("the credit of discarded messages comes back") {
  Bench bench;
  bench.listener.verdict = Listener::Verdict::discard;
  const std::vector<std::byte> payload(kEagerBytesMax);
  std::uint32_t used = 0;
  for (std::uint32_t message = 1; message <= 200; ++message) {
    FrameHeader eager = bench.frame(FrameKind::data, message, kEagerBytesMax);
    eager.fragment = kEagerBytesMax;
    bench.script->arrive(eager);
    bench.script->arrive(payload.data(), payload.size());
    used += eager_cost(kEagerBytesMax);
    bench.poll(2);
    for (const FrameHeader& frame : bench.frames()) used -= frame.credit;
    REQUIRE(used <= kEagerWindowBytes / 2);
  }
  CHECK(bench.transport->peer_status(1).ok());
}

// What arrives, and what the status must say of it. Ops 1 (large receive) and 2 (large send) are posted.
void check_breaks(std::vector<FrameHeader> frames, const std::string& what) {
  for (const std::size_t piece : {100'000, 1, 7}) {
    CAPTURE(what, piece);
    Bench bench;
    bench.script->piece_bytes_max = piece;
    bench.post(WireKind::recv, 1, 200'000);
    bench.post(WireKind::send, 2, 200'000);
    const std::vector<std::byte> payload(kFragmentBytesMax);
    for (const FrameHeader& frame : frames) {
      bench.script->arrive(frame);
      bench.script->arrive(payload.data(), std::min<std::size_t>(frame.fragment, payload.size()));
    }
    const auto completions = bench.poll(2000);
    REQUIRE(completions.size() == 2);
    for (const Completion& completion : completions) CHECK(completion.error == ErrorCode::peer_lost);
    const Status status = bench.transport->peer_status(1);
    CHECK(status.code() == ErrorCode::peer_lost);
    CHECK_THAT(std::string(status.message()), Catch::Contains("rank 1 sent") && Catch::Contains(what));
    bench.post(WireKind::send, 3, 10);
    CHECK(bench.poll().size() == 1);
  }
}

TEST_CASE("a peer that breaks the protocol is lost, and the status says what it did") {
  Bench b;
  FrameHeader bad = b.frame(FrameKind::data, 1, 10);
  bad.magic = 0;
  check_breaks({bad}, "malformed");
  FrameHeader eager = b.frame(FrameKind::data, 5, 100);
  eager.fragment = 100;
  check_breaks({eager, eager}, "second time");
  check_breaks({b.frame(FrameKind::ready, 2, 200'000), b.frame(FrameKind::ready, 2, 200'000)},
               "second ready");
  check_breaks({b.frame(FrameKind::ready, 7, 10), b.frame(FrameKind::ready, 7, 10)}, "second ready");
  check_breaks({b.frame(FrameKind::request, 7, 10), b.frame(FrameKind::request, 7, 10)}, "sent before");
  FrameHeader fragment = b.frame(FrameKind::data, 1, 200'000);
  fragment.announced = 1;
  fragment.fragment = 1000;
  fragment.fragment = 131'072;
  check_breaks({fragment, fragment}, "more fragments than");
  FrameHeader other = fragment;
  other.length = 200'001;
  check_breaks({other}, "other data");
  FrameHeader unannounced = b.frame(FrameKind::data, 9, 100);
  unannounced.announced = 1;
  unannounced.fragment = 100;
  check_breaks({b.frame(FrameKind::request, 9, 100), unannounced}, "before the ready");
  FrameHeader credit;
  credit.kind = FrameKind::credit;
  credit.credit = 1;
  check_breaks({credit}, "more credit");
  std::vector<FrameHeader> flood;
  for (std::uint32_t message = 100; message < 140; ++message) {
    flood.push_back(b.frame(FrameKind::data, message, kEagerBytesMax));
    flood.back().fragment = kEagerBytesMax;
  }
  check_breaks(flood, "more eager data");
}

TEST_CASE("announcements that meet no operation are limited") {
  Bench bench;
  for (std::uint32_t message = 0; message <= kAnnouncementsMax; ++message) {
    bench.script->arrive(bench.frame(message % 2 ? FrameKind::ready : FrameKind::request, message, 1));
  }
  bench.poll(100);
  CHECK_THAT(std::string(bench.transport->peer_status(1).message()), Catch::Contains("announcements"));
}

TEST_CASE("bytes that arrived before the pipe broke count") {
  Bench bench;
  bench.post(WireKind::recv, 1, 100);
  bench.post(WireKind::recv, 2, 100);
  FrameHeader eager = bench.frame(FrameKind::data, 1, 100);
  eager.fragment = 100;
  const std::array<std::byte, 100> payload{};
  bench.script->arrive(eager);
  bench.script->arrive(payload.data(), payload.size());
  bench.script->status = Status(ErrorCode::peer_lost, "connection reset");
  const auto completions = bench.poll(2);
  REQUIRE(completions.size() == 2);
  CHECK(completions[0].cookie == 1);
  CHECK(completions[0].error == ErrorCode::ok);
  CHECK(completions[1].error == ErrorCode::peer_lost);
  CHECK(bench.transport->peer_status(1).message() == "connection reset");
}

// Pipes find out when they are used; nobody else may tell.
TEST_CASE("a break that shows in a write or a read ends the ops") {
  const Status broken(ErrorCode::peer_lost, "broken");
  for (const bool in_write : {true, false}) {
    CAPTURE(in_write);
    Bench bench;
    if (!in_write) bench.script->status_when_drained = broken;
    bench.script->quiet = true;
    CHECK(bench.poll(2).empty());  // it has been looked at once, as every pipe is
    CHECK(bench.transport->peer_status(1).ok() == in_write);
    if (in_write) bench.script->status = broken;
    bench.script->room_bytes = 0;
    bench.post(WireKind::send, 1, 10);
    bench.post(WireKind::recv, 2, 10);
    const auto completions = bench.poll(2);
    REQUIRE(completions.size() == 2);
    for (const Completion& completion : completions) CHECK(completion.error == ErrorCode::peer_lost);
    CHECK_FALSE(bench.transport->peer_status(1).ok());
  }
}

}  // namespace
}  // namespace strata::test
