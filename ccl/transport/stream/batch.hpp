// Frames handed to a pipe and not yet taken by it whole: written in one call, resumed exactly where it
// stopped.
#pragma once
#include <sys/uio.h>

#include <array>
#include <memory>

#include "ccl/transport/pipe.hpp"
#include "ccl/transport/stream/message.hpp"

namespace strata::stream {

// Holds at most `bytes_max` bytes of payload, so a batch delays a message of higher priority no longer than
// one large fragment does.
class Batch final {
 public:
  struct Frame {
    FrameHeader header;
    const std::byte* payload = nullptr;  // header.fragment bytes of the caller's, or of `rescued`
    MessageHandle message;
    std::unique_ptr<std::byte[]> rescued;
  };

  explicit Batch(std::uint64_t bytes_max = kFragmentBytesMax) : bytes_max_(bytes_max) {}

  std::uint64_t bytes_max() const { return bytes_max_; }
  void set_bytes_max(std::uint64_t bytes) { bytes_max_ = bytes; }  // of an empty one
  bool empty() const { return first_ == count_; }
  bool full() const { return count_ == kFramesMax; }
  bool has_room(std::uint64_t payload) const {
    return !full() && (empty() || payload_ + payload <= bytes_max_);
  }

  void add(const FrameHeader& header, const std::byte* payload, MessageHandle message);
  // Offers what is left to the pipe. Calls done(frame) for each frame taken whole. Returns the bytes taken;
  // `empty()` tells whether all were.
  template <class Done>
  std::size_t write(Pipe& pipe, Done done) {
    const std::size_t taken = offer(pipe);
    std::size_t left = taken;
    for (; first_ < count_; ++first_, written_ = 0) {
      Frame& frame = frames_[first_];
      const std::size_t rest = kFrameBytes + frame.header.fragment - written_;
      if (left < rest) {
        written_ += left;
        return taken;
      }
      left -= rest;
      done(frame);
    }
    clear();
    return taken;
  }
  // The memory behind payloads to the peer is about to go: copies what is left of them. The frames still go
  // out, with the right bytes, since the peer may already have their headers.
  void rescue(Rank peer, const CancelScope& scope) {
    rescue_if([&](const FrameHeader& header) { return scope.covers(peer, header.tag); });
  }
  void rescue() {
    rescue_if([](const FrameHeader&) { return true; });
  }
  void clear();

 private:
  static constexpr std::size_t kFramesMax = 16;
  std::size_t offer(Pipe& pipe);
  static void copy_payload(Frame& frame);
  template <class Predicate>
  void rescue_if(Predicate affected) {
    for (std::size_t i = first_; i < count_; ++i)
      if (frames_[i].header.kind == FrameKind::data && affected(frames_[i].header)) copy_payload(frames_[i]);
  }

  std::uint64_t bytes_max_;
  std::array<Frame, kFramesMax> frames_;
  std::size_t first_ = 0, count_ = 0;
  std::uint64_t payload_ = 0;  // bytes, in all frames
  std::size_t written_ = 0;    // of the first frame, header included
};

}  // namespace strata::stream
