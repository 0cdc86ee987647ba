// The limits within memory: mailbox, staged, shared buffers, plain copies.
#include <cstring>

#include "bench/compare/limits.hpp"
#include "bench/compare/limits_kernels.hpp"

namespace strata::compare {
namespace {

constexpr std::uint64_t kStagedBytesMin = 16 << 10;
constexpr std::uint64_t kStreamingBytesMin = 1 << 20;

}  // namespace

SharedBuffers map_shared_buffers(std::uint64_t count) {
  SharedBuffers shared;
  for (Memory& memory : shared.in) memory = map_memory(count, MAP_SHARED);
  for (Memory& memory : shared.out) memory = map_memory(count, MAP_SHARED);
  return shared;
}

void Limit::take_private_buffers(Collective collective, std::uint64_t bytes) {
  buffers_ = counts_of(collective, bytes, size());
  in_ = map_memory(buffers_.in_count, MAP_PRIVATE);
  out_ = map_memory(buffers_.out_count, MAP_PRIVATE);
  buffers_.in = in_.get(), buffers_.out = out_.get();
}

std::optional<Buffers> Mailbox::prepare(Collective collective, std::uint64_t bytes) {
  if (collective != Collective::all_reduce || bytes > kMailBytesMax) return std::nullopt;
  take_private_buffers(collective, bytes);
  return buffers_;
}

// Two slots in turn: when a rank fills one again, the other has begun the call between, so it has read it.
void Mailbox::call(int) {
  Board& board = pair_.board();
  auto& slots = board.mail[++calls_ % 2];
  std::memcpy(slots[static_cast<std::size_t>(rank())].data(), buffers_.in, buffers_.in_count * sizeof(float));
  mine(board.arrived).value.store(calls_, std::memory_order_release);
  wait_for(theirs(board.arrived), calls_);
  const auto* other = reinterpret_cast<const float*>(slots[static_cast<std::size_t>(pair_.other())].data());
  add(buffers_.out, buffers_.in, other, buffers_.out_count);
}

std::optional<Buffers> Staged::prepare(Collective collective, std::uint64_t bytes) {
  if (collective != Collective::all_reduce || bytes < kStagedBytesMin || bytes % (2 * sizeof(float)) != 0)
    return std::nullopt;
  take_private_buffers(collective, bytes);
  return buffers_;
}

float* Staged::slot(Kind kind, int rank, std::uint64_t piece) const {
  const std::uint64_t row = static_cast<std::uint64_t>(kind) * 2 + static_cast<std::uint64_t>(rank);
  return slots_.get() + (row * kSlots + piece % kSlots) * piece_count_;
}

Limit::Range Staged::piece_of(int rank, std::uint64_t piece) const {
  const Range half = half_of(rank);
  const std::uint64_t offset = piece * piece_count_;
  return {half.first + offset, std::min(piece_count_, half.count - offset)};
}

void Staged::call(int) {
  const std::uint64_t pieces = (half_of(0).count + piece_count_ - 1) / piece_count_;
  for (std::uint64_t i = 0; i < pieces + 2; ++i) {
    if (i < pieces) copy_in(i);
    if (i >= 1 && i - 1 < pieces) reduce(i - 1);
    if (i >= 2) copy_out(i - 2);
  }
  // The next call fills the slots from the first on: the other must have emptied them.
  wait_for(theirs(pair_.board().taken), done_ + pieces);
  done_ += pieces;
}

// My input for the half that the other reduces. It has reduced what was in this slot before.
void Staged::copy_in(std::uint64_t piece) {
  Board& board = pair_.board();
  if (piece >= kSlots) wait_for(theirs(board.reduced), done_ + piece - kSlots + 1);
  const Range range = piece_of(pair_.other(), piece);
  std::memcpy(slot(kInput, rank(), piece), buffers_.in + range.first, range.count * sizeof(float));
  mine(board.arrived).value.store(done_ + piece + 1, std::memory_order_release);
}

void Staged::reduce(std::uint64_t piece) {
  Board& board = pair_.board();
  wait_for(theirs(board.arrived), done_ + piece + 1);
  if (piece >= kSlots) wait_for(theirs(board.taken), done_ + piece - kSlots + 1);
  const Range range = piece_of(rank(), piece);
  add_into_both(buffers_.out + range.first, slot(kResult, rank(), piece), buffers_.in + range.first,
                slot(kInput, pair_.other(), piece), range.count);
  mine(board.reduced).value.store(done_ + piece + 1, std::memory_order_release);
}

void Staged::copy_out(std::uint64_t piece) {
  Board& board = pair_.board();
  wait_for(theirs(board.reduced), done_ + piece + 1);
  const Range range = piece_of(pair_.other(), piece);
  std::memcpy(buffers_.out + range.first, slot(kResult, pair_.other(), piece), range.count * sizeof(float));
  mine(board.taken).value.store(done_ + piece + 1, std::memory_order_release);
}

std::optional<Buffers> Shared::prepare(Collective collective, std::uint64_t bytes) {
  if (collective != Collective::all_reduce || bytes / sizeof(float) > kSharedCountMax) return std::nullopt;
  if (way_ == SharedWay::write_streaming && bytes < kStreamingBytesMin) return std::nullopt;
  buffers_ = counts_of(collective, bytes, size());
  buffers_.in = shared_.in[rank()].get(), buffers_.out = shared_.out[rank()].get();
  return buffers_;
}

void Shared::call(int) {
  const int other = pair_.other();
  const Range own = half_of(rank()), rest = half_of(other);
  const float* their_in = shared_.in[other].get() + own.first;
  float* their_out = shared_.out[other].get();
  float* out = buffers_.out + own.first;
  const float* in = buffers_.in + own.first;
  barrier();
  switch (way_) {
    case SharedWay::copy:
      add(out, in, their_in, own.count);
      barrier();
      std::memcpy(buffers_.out + rest.first, their_out + rest.first, rest.count * sizeof(float));
      break;
    case SharedWay::write: add_into_both(out, their_out + own.first, in, their_in, own.count); break;
    case SharedWay::write_streaming:
      stream_sum_into_both(out, their_out + own.first, in, their_in, own.count);
      break;
  }
  barrier();
}

std::optional<Buffers> Copy::prepare(Collective collective, std::uint64_t bytes) {
  if (collective != Collective::copy) return std::nullopt;
  const std::uint64_t count = bytes / sizeof(float) / static_cast<std::uint64_t>(copiers_);
  take_private_buffers(collective, (rank() < copiers_ ? count : 0) * sizeof(float));
  return buffers_;
}

void Copy::call(int) {
  if (streaming_)
    stream_copy(buffers_.out, buffers_.in, buffers_.in_count);
  else
    std::memcpy(buffers_.out, buffers_.in, buffers_.in_count * sizeof(float));
}

}  // namespace strata::compare
