// Gathers headers and payloads for one write.
#include "ccl/transport/stream/batch.hpp"

#include <cstring>

#include "ccl/base/check.hpp"

namespace strata::stream {

void Batch::add(const FrameHeader& header, const std::byte* payload, MessageHandle message) {
  STRATA_CHECK(has_room(header.fragment), count_, payload_, header.fragment);
  Frame& frame = frames_[count_++];
  frame.header = header;
  frame.payload = payload;
  frame.message = message;
  payload_ += header.fragment;
}

std::size_t Batch::offer(Pipe& pipe) {
  std::array<iovec, 2 * kFramesMax> parts;
  std::size_t count = 0;
  std::size_t skip = written_;
  const auto offer_part = [&](const void* bytes, std::size_t length) {
    const std::size_t skipped = std::min(skip, length);
    skip -= skipped;
    if (skipped == length) return;
    // writev's type; pipes only read from it.
    parts[count++] = {const_cast<char*>(static_cast<const char*>(bytes)) + skipped, length - skipped};
  };
  for (std::size_t i = first_; i < count_; ++i) {
    offer_part(&frames_[i].header, kFrameBytes);
    offer_part(frames_[i].payload, frames_[i].header.fragment);
  }
  return pipe.write(std::span(parts).first(count));
}

void Batch::copy_payload(Frame& frame) {
  if (frame.header.fragment == 0 || frame.rescued) return;
  frame.rescued = std::make_unique<std::byte[]>(frame.header.fragment);
  std::memcpy(frame.rescued.get(), frame.payload, frame.header.fragment);
  frame.payload = frame.rescued.get();
}

void Batch::clear() {
  for (std::size_t i = 0; i < count_; ++i) frames_[i].rescued.reset();
  first_ = count_ = written_ = 0;
  payload_ = 0;
}

}  // namespace strata::stream
