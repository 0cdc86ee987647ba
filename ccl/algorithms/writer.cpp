// Cuts messages into pieces.
#include "ccl/algorithms/writer.hpp"

#include <algorithm>

#include "ccl/base/check.hpp"

namespace strata {

Writer::Writer(Program& program, const Request& request, const Tuning& tuning)
    : program_(program),
      element_bytes_(request.element_bytes()),
      segment_bytes_(std::max(tuning.segment_bytes, element_bytes_)),
      channels_(tuning.channels),
      finishes_(request.reduces() && request.needs_finish()) {
  STRATA_CHECK(tuning.channels >= 1, tuning.channels);
}

int Writer::pieces(std::uint64_t length) const {
  const auto channels = static_cast<std::uint64_t>(channels_);
  const std::uint64_t segments =
      length / segment_bytes_ / channels + (length % (segment_bytes_ * channels) != 0);
  STRATA_CHECK(segments * channels < kStepsMax, length, segment_bytes_);
  return static_cast<int>(std::max<std::uint64_t>(segments, 1) * channels);
}

std::uint64_t Writer::piece_bytes_max(std::uint64_t length) const {
  const std::uint64_t segment = (segment_bytes_ + element_bytes_ - 1) / element_bytes_ * element_bytes_;
  return std::min(segment, part({Buffer::none, 0, length}, 0, channels_, element_bytes_).length);
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
