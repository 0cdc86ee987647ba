// Several pipes to one peer, scripted one by one: what may come in another order than it was sent, and what
// must not.
#include <array>
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/transport/scripted_pipe.hpp"

namespace strata::test {
namespace {

using namespace stream;

constexpr std::uint64_t kFragment = 128 << 10;  // of a scripted pipe

struct Counting final : Listener {
  Verdict unexpected(Rank, const Tag&, const Fingerprint&) override {
    ++count;
    return Verdict::keep;
  }
  int count = 0;
};

FrameHeader frame(FrameKind kind, std::uint32_t message, std::uint64_t length) {
  FrameHeader header;
  header.kind = kind;
  header.tag = {.operation = 1, .communicator = 1, .message = message};
  header.length = length;
  return header;
}

void sum_words(void* into, const void* a, const void* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t x, y;  // what is received need not be aligned
    std::memcpy(&x, static_cast<const std::byte*>(a) + 4 * i, 4);
    std::memcpy(&y, static_cast<const std::byte*>(b) + 4 * i, 4);
    x += y;
    std::memcpy(static_cast<std::byte*>(into) + 4 * i, &x, 4);
  }
}

// Rank 0, with the test at the other ends of two pipes to rank 1.
struct Bench {
  void post(WireKind kind, std::uint32_t message, std::span<std::uint32_t> words) {
    WireOp op;
    op.kind = kind;
    op.peer = 1;
    op.tag = {.operation = 1, .communicator = 1, .message = message};
    op.data = reinterpret_cast<std::byte*>(words.data());
    op.addend = op.data;
    op.element_bytes = 4;
    op.reduce = sum_words;
    op.length = words.size_bytes();
    op.cookie = message;
    transport->post(op);
  }
  std::vector<Completion> poll(int times = 8) {
    std::vector<Completion> all;
    std::array<Completion, kCompletionsPerPollMax> some;
    while (times-- > 0) {
      const std::size_t count = transport->poll(some);
      all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return all;
  }
  // A fragment of an announced message, in the stream.
  void arrive(std::size_t stream, std::uint32_t message, std::span<const std::uint32_t> words,
              std::uint64_t offset, std::uint32_t bytes, bool requested = false) {
    FrameHeader header = frame(FrameKind::data, message, words.size_bytes());
    header.announced = 1;
    header.requested = requested;
    header.offset = offset;
    header.fragment = bytes;
    streams[stream]->arrive(header);
    streams[stream]->arrive(reinterpret_cast<const std::byte*>(words.data()) + offset, bytes);
  }
  // The headers written into a stream.
  std::vector<FrameHeader> frames(std::size_t stream) const {
    std::vector<FrameHeader> headers;
    const std::vector<std::byte>& bytes = streams[stream]->written;
    for (std::size_t at = 0; at + kFrameBytes <= bytes.size(); at += kFrameBytes + headers.back().fragment)
      headers.push_back(*parse_frame(std::span(bytes).subspan(at).first<kFrameBytes>()));
    return headers;
  }

  Counting listener;
  std::vector<std::shared_ptr<Script>> streams{std::make_shared<Script>(), std::make_shared<Script>()};
  std::unique_ptr<Transport> transport =
      make_stream_transport(std::make_unique<ScriptedPipes>(streams), listener);
};

std::vector<std::uint32_t> counted(std::size_t words, std::uint32_t from) {
  std::vector<std::uint32_t> all(words);
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST_CASE("what one stream has no room for goes by the other, and is sent when both have taken theirs") {
  Bench bench;
  std::vector<std::uint32_t> data(5 * kFragment / 4);
  bench.post(WireKind::send, 1, data);
  bench.streams[0]->arrive(frame(FrameKind::ready, 1, 5 * kFragment));
  bench.streams[0]->room_bytes =
      kFrameBytes + kFrameBytes + kFragment + kFrameBytes + 100;  // request, 1 and a bit
  CHECK(bench.poll().empty());  // the second fragment is still in the first stream's hands
  const auto first = bench.frames(0), second = bench.frames(1);
  REQUIRE(first.size() == 3);
  CHECK(first[0].kind == FrameKind::request);
  CHECK((first[1].offset == 0 && first[2].offset == kFragment));
  REQUIRE(second.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(second[i].kind == FrameKind::data);
    CHECK(second[i].requested == 1);
    CHECK(second[i].offset == (2 + i) * kFragment);
  }
  bench.streams[0]->room_bytes = ~std::size_t{0};
  const auto done = bench.poll();
  REQUIRE(done.size() == 1);
  CHECK((done[0].cookie == 1 && done[0].error == ErrorCode::ok));
}

TEST_CASE("all but data keeps to the first stream") {
  Bench bench;
  std::vector<std::uint32_t> data(kFragment / 4);
  bench.streams[0]->room_bytes = 0;
  bench.post(WireKind::send, 1, data);
  bench.poll();  // the stream is full now
  bench.post(WireKind::recv, 2, data);
  bench.post(WireKind::send, 3, std::span(data).first(10));
  REQUIRE(bench.poll().size() == 1);
  REQUIRE(bench.frames(1).size() == 1);
  CHECK(bench.frames(1)[0].tag.message == 3);
  bench.streams[0]->room_bytes = ~std::size_t{0};
  bench.poll();
  CHECK(bench.frames(0).size() == 2);
}

TEST_CASE("fragments land where they belong, in whatever order they come, piece by piece") {
  for (const WireKind kind : {WireKind::recv, WireKind::recv_reduce}) {
    Bench bench;
    const std::size_t words = 3 * kFragment / 4;
    const std::vector<std::uint32_t> sent = counted(words, 7);
    std::vector<std::uint32_t> received = counted(words, 1'000'000);
    std::vector<std::uint32_t> expected = sent;
    if (kind == WireKind::recv_reduce) sum_words(expected.data(), sent.data(), received.data(), words);
    bench.streams[0]->piece_bytes_max = 1001;  // cuts elements, in both streams at once
    bench.streams[1]->piece_bytes_max = 333;
    bench.post(kind, 1, received);
    bench.poll();
    bench.arrive(1, 1, sent, 2 * kFragment, kFragment);
    bench.arrive(0, 1, sent, kFragment, kFragment);
    CHECK(bench.poll(50).empty());
    bench.arrive(1, 1, sent, 0, kFragment);
    const auto done = bench.poll(50);
    REQUIRE(done.size() == 1);
    CHECK(done[0].error == ErrorCode::ok);
    CHECK(received == expected);
  }
}

TEST_CASE("a request that comes after its message was received is expected, once") {
  Bench bench;
  const std::vector<std::uint32_t> sent = counted(kFragment / 4, 3);
  std::vector<std::uint32_t> received(sent.size());
  bench.post(WireKind::recv, 1, received);
  bench.poll();
  bench.arrive(1, 1, sent, 0, kFragment, true);
  REQUIRE(bench.poll().size() == 1);
  CHECK(received == sent);
  bench.streams[0]->arrive(frame(FrameKind::request, 1, kFragment));
  CHECK(bench.poll().empty());
  CHECK(bench.listener.count == 0);
  CHECK(bench.transport->peer_status(1).ok());
  bench.streams[0]->arrive(frame(FrameKind::request, 1, kFragment));  // now it is one of a new message
  bench.poll();
  CHECK(bench.listener.count == 1);
}

TEST_CASE("a fragment that cuts an element breaks the protocol") {
  Bench bench;
  std::vector<std::uint32_t> data(kFragment / 4);
  bench.post(WireKind::recv_reduce, 1, data);
  bench.poll();
  bench.arrive(1, 1, data, 0, 1001);
  REQUIRE(bench.poll().size() == 1);
  CHECK_THAT(std::string(bench.transport->peer_status(1).message()), Catch::Contains("cuts an element"));
}

TEST_CASE("a peer is lost with its last stream; what arrived in it counts, ours are closed") {
  Bench bench;
  const std::vector<std::uint32_t> sent = counted(kFragment / 4, 3);
  std::vector<std::uint32_t> received(sent.size()), never(10);
  bench.post(WireKind::recv, 1, received);
  bench.post(WireKind::recv, 2, never);
  bench.poll();
  bench.streams[0]->status = Status(ErrorCode::peer_lost, "cut");
  CHECK(bench.poll().empty());
  CHECK(bench.transport->peer_status(1).ok());
  CHECK(bench.streams[1]->closed);
  bench.arrive(1, 1, sent, 0, kFragment);
  auto done = bench.poll();
  REQUIRE(done.size() == 1);
  CHECK((done[0].cookie == 1 && done[0].error == ErrorCode::ok));
  CHECK(received == sent);
  bench.streams[1]->status = Status(ErrorCode::peer_lost, "it closed the connection");
  done = bench.poll();
  REQUIRE(done.size() == 1);
  CHECK((done[0].cookie == 2 && done[0].error == ErrorCode::peer_lost));
  CHECK(bench.transport->peer_status(1).message() == "cut");  // the first to end says why
}

}  // namespace
}  // namespace strata::test
