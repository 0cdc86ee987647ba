// Takes one pipe's bytes apart: headers to the matcher, payload to where the matcher wants it.
#pragma once
#include <array>
#include <cstdint>

#include "ccl/transport/pipe.hpp"
#include "ccl/transport/stream/matcher.hpp"

namespace strata::stream {

class Receiver final {
 public:
  Receiver(Rank peer, Pipe& pipe, Ledger& ledger, Matcher& matcher, Sender& sender)
      : peer_(peer), pipe_(pipe), ledger_(ledger), matcher_(matcher), sender_(sender) {}

  // Takes about so many bytes. true: there may be more; false: nothing has arrived that was not taken. Error:
  // what the peer did against the protocol.
  Expected<bool> turn(std::size_t budget_bytes);
  // The message of this receive, if it is what comes next and all of it is there.
  bool take_next(const WireOp& op);
  // Bytes have arrived and not been taken.
  bool has_bytes() { return !pipe_.peek().empty(); }

 private:
  std::size_t take_header_bytes();
  Status on_header();
  Status on_frame();
  std::size_t move_payload(std::size_t bytes_max);
  std::size_t move_from_pipe(Message* message, std::size_t bytes_max);
  void end_frame();

  const Rank peer_;
  Pipe& pipe_;
  Ledger& ledger_;
  Matcher& matcher_;
  Sender& sender_;
  alignas(8) std::array<std::byte, kFrameBytes> header_bytes_;
  std::size_t header_count_ = 0;
  FrameHeader header_;  // of the frame whose payload is coming
  std::uint64_t payload_left_ = 0;
  Carry carry_;           // of that payload
  MessageHandle target_;  // where it goes; ended meanwhile: nowhere
};

}  // namespace strata::stream
