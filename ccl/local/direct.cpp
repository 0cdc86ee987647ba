#include "ccl/local/direct.hpp"

#include <algorithm>
#include <cstring>

#include "ccl/compute/copy.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kBytesPerAdvance = 512 << 10;
// A sum is made here and copied to where it belongs: half of a first-level cache, so that sources fit beside.
constexpr std::uint64_t kTileBytes = 4 << 10;
// From so many bytes a rank on, targets would only push other things out of the caches.
constexpr std::uint64_t kStreamBytesMin = 8 << 20;

}  // namespace

bool shares_input(const Shape& s, int member) {
  switch (s.collective) {
    case Collective::broadcast:
    case Collective::scatter: return member == s.root;
    case Collective::barrier: return false;
    default: return true;
  }
}

bool shares_output(const Shape& s, int member) {
  return s.collective == Collective::all_reduce || (s.collective == Collective::reduce && member == s.root);
}

void DirectMoves::resize(int members) {
  inputs_.resize(static_cast<std::size_t>(members));
  outputs_.resize(static_cast<std::size_t>(members));
}

void DirectMoves::set_buffers(int member, const std::byte* input, std::byte* output) {
  inputs_[static_cast<std::size_t>(member)] = input;
  outputs_[static_cast<std::size_t>(member)] = output;
}

void DirectMoves::begin(const Shape& shape, const std::byte* input, std::byte* output,
                        ReduceManyKernel reduce, double scale, std::uint64_t element_bytes) {
  set_buffers(shape.me, input, output);
  shape_ = shape;
  reduce_ = reduce;
  scale_ = scale;
  element_bytes_ = element_bytes;
  streaming_ = shape.total_bytes >= kStreamBytesMin;
  at_ = 0;
  if (shape.reduces())
    plan_reduction();
  else
    plan_copies();
}

void DirectMoves::plan_reduction() {
  const Shape& s = shape_;
  const std::uint64_t mine = s.begin(s.me);
  parts_.clear();
  for (const std::byte* input : inputs_) parts_.push_back(input + mine);
  targets_.clear();
  for (int k = 0; k < s.size; ++k) {  // mine first
    const int q = (s.me + k) % s.size;
    if (s.collective == Collective::all_reduce || (s.collective == Collective::reduce && q == s.root))
      targets_.push_back(outputs_[static_cast<std::size_t>(q)] + mine);
    if (s.collective == Collective::reduce_scatter && k == 0)
      targets_.push_back(outputs_[static_cast<std::size_t>(q)]);
  }
  tile_.resize(kTileBytes);
}

void DirectMoves::plan_copies() {
  const Shape& s = shape_;
  copies_.clear();
  copied_ = 0;
  std::byte* const output = outputs_[static_cast<std::size_t>(s.me)];
  const auto copy = [&](int from, std::uint64_t at, std::uint64_t into, std::uint64_t length) {
    const std::byte* const source = inputs_[static_cast<std::size_t>(from)] + at;
    if (length > 0 && source != output + into) copies_.push_back({source, output + into, length});
  };
  const bool all = s.collective == Collective::all_gather || s.collective == Collective::all_to_all;
  for (int k = 0; k < s.size; ++k) {
    const int q = (s.me + k) % s.size;  // each begins elsewhere
    if (all || (s.collective == Collective::gather && s.is_root()))
      copy(q, s.collective == Collective::all_to_all ? s.begin(s.me) : 0, s.begin(q), s.length(q));
  }
  if (s.collective == Collective::broadcast) copy(s.root, 0, 0, s.total_bytes);
  if (s.collective == Collective::scatter) copy(s.root, s.begin(s.me), 0, s.length(s.me));
}

bool DirectMoves::advance() {
  const bool done = shape_.reduces() ? reduce_some() : copy_some();
  if (streaming_) flush_streams();
  return done;
}

bool DirectMoves::reduce_some() {
  const std::uint64_t length = shape_.length(shape_.me);
  const std::uint64_t end = std::min(length, at_ + kBytesPerAdvance);
  while (at_ < end) {
    const std::uint64_t tile = std::min(kTileBytes, end - at_);
    reduce_tile(tile);
    at_ += tile;
  }
  return at_ == length;
}

// Large targets get the sum from a tile that stays in the cache, past it; small ones from the first of them.
void DirectMoves::reduce_tile(std::uint64_t length) {
  std::byte* const into = streaming_ ? tile_.data() : static_cast<std::byte*>(targets_[0]);
  reduce_(into, parts_.data(), parts_.size(), length / element_bytes_, true, scale_);
  for (const void*& part : parts_) part = static_cast<const std::byte*>(part) + length;
  if (streaming_)
    spread_streaming(targets_.data(), targets_.size(), into, length, parts_.data(), parts_.size());
  else
    for (std::size_t i = 1; i < targets_.size(); ++i) std::memcpy(targets_[i], into, length);
  for (void*& target : targets_) target = static_cast<std::byte*>(target) + length;
}

bool DirectMoves::copy_some() {
  for (std::uint64_t left = kBytesPerAdvance; copied_ < copies_.size() && left > 0;) {
    const Copy& c = copies_[copied_];
    const std::uint64_t piece = std::min(c.length - at_, left);
    if (streaming_)
      copy_streaming(c.into + at_, c.from + at_, piece);
    else
      std::memcpy(c.into + at_, c.from + at_, piece);
    at_ += piece;
    left -= piece;
    if (at_ < c.length) return false;
    at_ = 0;
    ++copied_;
  }
  return copied_ == copies_.size();
}

}  // namespace strata
