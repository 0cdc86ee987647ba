// Cuts messages into pieces.
#include "ccl/algorithms/writer.hpp"

#include <algorithm>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

// Of one slice and channel: more would only make programs long, so the pieces of very long slices are longer.
constexpr std::uint64_t kSegmentsMax = 4096;
constexpr std::uint64_t kSegmentBytesMax = 1ull << 40;  // no limit in practice; keeps products in 64 bits

}  // namespace

Writer::Writer(Program& program, const Request& request, const Tuning& tuning)
    : program_(program),
      element_bytes_(request.element_bytes()),
      segment_bytes_(std::clamp(tuning.segment_bytes, element_bytes_, kSegmentBytesMax)),
      channels_(tuning.channels),
      finishes_(request.reduces() && request.needs_finish()) {
  STRATA_CHECK(tuning.channels >= 1, tuning.channels);
}

int Writer::pieces(std::uint64_t length) const {
  const auto channels = static_cast<std::uint64_t>(channels_);
  const std::uint64_t segments =
      length / segment_bytes_ / channels + (length % (segment_bytes_ * channels) != 0);
  return static_cast<int>(std::clamp<std::uint64_t>(segments, 1, kSegmentsMax) * channels);
}

std::uint64_t Writer::piece_bytes_max(std::uint64_t length) const {
  const std::uint64_t segment = (segment_bytes_ + element_bytes_ - 1) / element_bytes_ * element_bytes_;
  const std::uint64_t in_one_segment = part({Buffer::none, 0, length}, 0, channels_, element_bytes_).length;
  return std::max(std::min(segment, in_one_segment), piece({Buffer::none, 0, length}, 0).length);
}

void Writer::send(Rank to, Slice from) {
  for (int i = 0, n = pieces(from.length); i < n; ++i)
    program_.send(to, part(from, i, n, element_bytes_), channel(i));
}

void Writer::recv(Rank from, Slice into) {
  for (int i = 0, n = pieces(into.length); i < n; ++i)
    program_.recv(from, part(into, i, n, element_bytes_), channel(i));
}

void Writer::recv_reduce(Rank from, Slice addend, Slice into) {
  for (int i = 0, n = pieces(into.length); i < n; ++i)
    program_.recv_reduce(from, part(addend, i, n, element_bytes_), part(into, i, n, element_bytes_),
                         channel(i));
}

void Writer::copy(Slice from, Slice into) {
  for (int i = 0, n = pieces(into.length); i < n; ++i)
    program_.copy(part(from, i, n, element_bytes_), part(into, i, n, element_bytes_));
}

void Writer::finish(Slice slice) {
  if (!finishes_) return;
  for (int i = 0, n = pieces(slice.length); i < n; ++i) program_.finish(part(slice, i, n, element_bytes_));
}

Slots::Slots(Program& program, std::uint64_t length, int count) {
  for (int i = 0; i < count; ++i) slots_.push_back(program.scratch(length));
}

Slice Slots::next(std::uint64_t length) {
  const Slice slot = slots_[next_++ % slots_.size()];
  STRATA_CHECK(length <= slot.length, length, slot.length);
  return first_bytes(slot, length);
}

}  // namespace strata
