// libFuzzer: any bytes as a header, and any bytes as all that a peer ever sends to a transport with ops
// posted.
#include <array>
#include <cstdlib>

#include "tests/transport/scripted_pipe.hpp"

namespace strata::test {
namespace {

constexpr std::size_t kMemoryBytes = 70'000;
constexpr std::size_t kChoices = 6;
constexpr std::array<std::uint64_t, 4> kLengths{0, 800, 16'384, 65'536};

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

// Input: 16 bytes of setting, then frames; payloads are zeros, so that the fuzzer need not carry them.
class Session final {
 public:
  explicit Session(std::span<const std::byte> input)
      : memory_(kMemoryBytes),
        script_(std::make_shared<Script>()),
        transport_(make_stream_transport(std::make_unique<ScriptedPipes>(script_), listener_)) {
    const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(input[i]); };
    script_->piece_bytes_max = byte(0) < 200 ? byte(0) + 1 : kMemoryBytes;
    room_ = byte(1) * 64 + 1;
    for (std::uint32_t i = 0; i < 14; ++i) post(i, byte(2 + i));
    frames_ = input.subspan(16);
  }

  void run() {
    for (std::uint32_t round = 0; round < 40 || !frames_.empty(); ++round) {
      feed();
      script_->room_bytes = room_;
      std::array<Completion, 4> completions;
      ended_ += transport_->poll(completions);
      if (round == 30) transport_->cancel({1});
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
    op.length = kLengths[setting / 4 % 4];
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

  // The next frame of the input: raw bytes, or a few that choose the fields of a header which is nearly
  // right.
  void feed() {
    if (frames_.empty()) return;
    const auto how = std::to_integer<unsigned>(frames_[0]);
    frames_ = frames_.subspan(1);
    const std::size_t wanted = how % 8 == 0 ? stream::kFrameBytes : kChoices;
    if (frames_.size() < wanted) {
      script_->arrive(frames_.data(), frames_.size());
      frames_ = {};
      return;
    }
    stream::FrameHeader header;
    if (how % 8 == 0) {
      std::memcpy(&header, frames_.data(), stream::kFrameBytes);
    } else {
      header = chosen(frames_.first<kChoices>());
    }
    frames_ = frames_.subspan(wanted);
    script_->arrive(header);
    if (stream::check_frame(header).ok()) script_->arrive(zeros_.data(), header.fragment);
  }

  static stream::FrameHeader chosen(std::span<const std::byte, kChoices> choices) {
    const auto choice = [&](std::size_t i) { return std::to_integer<std::uint32_t>(choices[i]); };
    stream::FrameHeader header;
    header.kind = static_cast<stream::FrameKind>(choice(0) % 4);
    header.announced = choice(0) / 4 % 2;
    header.requested = choice(0) / 8 % 2;
    header.credit = choice(1) < 128 ? 0 : choice(1) * 64;
    header.tag = {.operation = 0, .communicator = choice(2) % 2, .message = choice(2) / 2 % 7};
    header.fingerprint.root = choice(2) < 240 ? 0 : 1;
    header.length = choice(3) < 200 ? kLengths[choice(3) % 4] : choice(3) * 300;
    header.offset = choice(4) * 1024;
    header.fragment =
        choice(5) < 128 ? static_cast<std::uint32_t>(header.length - header.offset) : choice(5) * 512;
    if (header.kind != stream::FrameKind::data)
      header.announced = header.requested = header.fragment = header.offset = 0;
    return header;
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
