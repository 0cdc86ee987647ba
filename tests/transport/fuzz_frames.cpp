// libFuzzer: any bytes as a header, and any bytes as all that a peer ever sends to a transport with ops
// posted.
#include <array>
#include <cstdlib>

#include "tests/transport/scripted_pipe.hpp"

namespace strata::test {
namespace {

constexpr std::size_t kMemoryBytes = 70'000;

struct Listening final : Listener {
  Verdict unexpected(Rank, const Tag& tag, const Fingerprint&) override {
    return tag.message % 4 == 3 ? Verdict::discard : Verdict::keep;
  }
};

void add_bytes(void* into, const void* a, const void* b, std::size_t count) {
  for (std::size_t i = 0; i < 8 * count; ++i) {
    static_cast<std::uint8_t*>(into)[i] = static_cast<std::uint8_t>(static_cast<const std::uint8_t*>(a)[i] +
                                                                    static_cast<const std::uint8_t*>(b)[i]);
  }
}

void parse(std::span<const std::byte> input) {
  if (input.size() < stream::kFrameBytes) return;
  const auto header = stream::parse_frame(input.first<stream::kFrameBytes>());
  if (header.ok() && header->fragment > header->length - header->offset) std::abort();
}

// Input: 16 bytes of setting, then frames; payloads are made up, so that the fuzzer need not carry them.
class Session final {
 public:
  explicit Session(std::span<const std::byte> input)
      : memory_(kMemoryBytes),
        script_(std::make_shared<Script>()),
        transport_(make_stream_transport(std::make_unique<ScriptedPipes>(script_), listener_)) {
    const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(input[i]); };
    script_->piece_bytes_max = byte(0) < 200 ? byte(0) + 1 : ~std::size_t{0};
    room_ = byte(1) * 64 + 1;
    for (std::uint32_t i = 0; i < 14; ++i) post(i, byte(2 + i));
    frames_ = input.subspan(16);
  }

  void run() {
    for (std::uint32_t round = 0; round < 40; ++round) {
      feed();
      script_->room_bytes = room_;
      std::array<Completion, 4> completions;
      ended_ += transport_->poll(completions);
      if (round == 30) transport_->cancel(1);
    }
    script_->status = Status(ErrorCode::peer_lost, "the end");
    std::array<Completion, kCompletionsPerPollMax> completions;
    for (int polls = 0; polls < 20'000 && ended_ < posted_; ++polls) ended_ += transport_->poll(completions);
    if (ended_ != posted_) std::abort();  // each op completes, once
  }

 private:
  void post(std::uint32_t index, std::size_t setting) {
    if (setting % 4 == 0) return;
    WireOp op;
    op.kind = static_cast<WireKind>(setting % 4 - 1);
    op.peer = 1;
    op.tag = {.operation = 0, .communicator = index % 3 == 0 ? 1u : 0u, .message = index % 7};
    op.length = std::array<std::uint64_t, 4>{0, 800, 16'384, 65'536}[setting / 4 % 4];
    op.fingerprint.root = 0;
    op.data = memory_.data() + kMemoryBytes - op.length;  // ends where the memory does
    op.addend = op.data;
    op.element_bytes = 8;
    op.reduce = add_bytes;
    const bool sends = op.kind == WireKind::send;
    if (used_[sends][op.tag.communicator][op.tag.message]++ > 0) return;
    transport_->post(op);
    ++posted_;
  }

  // The next bytes of the input. What looks like a header gets the payload it promises.
  void feed() {
    if (frames_.empty()) return;
    const std::size_t count = std::min(frames_.size(), stream::kFrameBytes);
    script_->arrive(frames_.data(), count);
    if (count == stream::kFrameBytes) {
      const auto header = stream::parse_frame(frames_.first<stream::kFrameBytes>());
      if (header.ok()) script_->arrive(zeros_.data(), header->fragment);
    }
    frames_ = frames_.subspan(count);
  }

  static const std::vector<std::byte> zeros_;
  std::vector<std::byte> memory_;
  Listening listener_;
  const std::shared_ptr<Script> script_;
  const std::unique_ptr<Transport> transport_;
  std::size_t room_ = 0;
  std::span<const std::byte> frames_;
  std::size_t posted_ = 0, ended_ = 0;
  int used_[2][2][7] = {};
};

const std::vector<std::byte> Session::zeros_(stream::kFragmentBytesMax);

}  // namespace
}  // namespace strata::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  strata::test::parse(input);
  if (size >= 16) strata::test::Session(input).run();
  return 0;
}
