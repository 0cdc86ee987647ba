// Offsets of rotated parts.
#include "ccl/algorithms/rotation.hpp"

#include <algorithm>

namespace strata {

Rotation::Rotation(const Request& request, int size, int first) : size_(size), first_(first) {
  rotated_.reserve(static_cast<std::size_t>(size) + 1);
  rotated_.push_back(0);
  for (int p = 0; p < size; ++p) {
    const auto rank = static_cast<std::size_t>((first + p) % size);
    const std::uint64_t count = request.counts.empty() ? request.count : request.counts[rank];
    rotated_.push_back(rotated_.back() + count * request.element_bytes());
  }
}

std::vector<Rotation::Run> Rotation::runs(int begin, int end) const {
  const int wrap = std::clamp(size_ - first_, begin, end);  // the position of rank 0
  std::vector<Run> result;
  if (begin < wrap) result.push_back({begin, wrap});
  if (wrap < end) result.push_back({wrap, end});
  return result;
}

Slice Rotation::in_rank_order(Slice whole, Run run) const {
  const std::uint64_t rank_0 = offset(size_ - first_), all = offset(size_);
  const bool wrapped = run.begin >= size_ - first_;
  const std::uint64_t at = wrapped ? offset(run.begin) - rank_0 : offset(run.begin) + all - rank_0;
  return {whole.buffer, whole.offset + at, bytes(run)};
}

Slice Rotation::in_rotated_order(Slice hold, int from, Run run) const {
  return {hold.buffer, hold.offset + offset(run.begin) - offset(from), bytes(run)};
}

}  // namespace strata
