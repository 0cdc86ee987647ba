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

void DirectMoves::resize(int members) {
  inputs_.resize(static_cast<std::size_t>(members));
  outputs_.resize(static_cast<std::size_t>(members));
}

void DirectMoves::set_buffers(int member, Reach input, Reach output) {
  inputs_[static_cast<std::size_t>(member)] = input;
  outputs_[static_cast<std::size_t>(member)] = output;
}

void DirectMoves::begin(const Shape& shape, const std::byte* input, std::byte* output,
                        ReduceManyKernel reduce, double scale, std::uint64_t element_bytes) {
  set_buffers(shape.me, {.mapped = const_cast<std::byte*>(input)}, {.mapped = output});
  shape_ = shape;
  reduce_ = reduce;
  scale_ = scale;
  element_bytes_ = element_bytes;
  streaming_ = shape.total_bytes >= kStreamBytesMin;
  at_ = 0;
  fetched_ = 0;
  list_fetches(shape, fetches_);
  if (shape.reduces()) plan_reduction();
}

void DirectMoves::plan_reduction() {
  const Shape& s = shape_;
  const Share share = share_of(s);
  parts_.clear();
  for (const Reach& input : inputs_) parts_.push_back(input.mapped + share.input);
  targets_.clear();
  for (int k = 0; k < s.size; ++k) {  // mine first
    const int q = (s.me + k) % s.size;
    if (wants_share(s, q)) targets_.push_back(outputs_[static_cast<std::size_t>(q)].mapped + share.output);
  }
  tile_.resize(kTileBytes);
}

DirectMoves::Progress DirectMoves::advance() {
  failure_ = {};
  const bool done = shape_.reduces() ? reduce_some() : fetch_some();
  if (streaming_) flush_streams();
  if (!failure_.ok()) return Progress::failed;
  return done ? Progress::all : Progress::some;
}

bool DirectMoves::reduce_some() {
  const std::uint64_t length = share_of(shape_).length;
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

bool DirectMoves::fetch_some() {
  for (std::uint64_t left = kBytesPerAdvance; fetched_ < fetches_.size() && left > 0;) {
    const Fetch& f = fetches_[fetched_];
    const std::uint64_t piece = std::min(f.length - at_, left);
    if (!fetch(f, piece)) return false;
    at_ += piece;
    left -= piece;
    if (at_ < f.length) return false;
    at_ = 0;
    ++fetched_;
  }
  return fetched_ == fetches_.size();
}

bool DirectMoves::fetch(const Fetch& f, std::uint64_t bytes) {
  const Reach& input = inputs_[static_cast<std::size_t>(f.peer)];
  std::byte* const into = outputs_[static_cast<std::size_t>(shape_.me)].mapped + f.output + at_;
  if (input.mapped == nullptr) {
    failure_ = shm::read_memory(*input.of, input.address + f.from + at_, into, bytes);
    whose_ = f.peer;
    return failure_.ok();
  }
  const std::byte* const from = input.mapped + f.from + at_;
  if (from == into) return true;
  if (streaming_)
    copy_streaming(into, from, bytes);
  else
    std::memcpy(into, from, bytes);
  return true;
}

}  // namespace strata
