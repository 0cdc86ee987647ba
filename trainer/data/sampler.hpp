// Which piece of the text each sample is: a function of the sample's global index, so that any number of
// ranks trains on the same samples in the same order.
#pragma once
#include <cstddef>
#include <cstdint>

#include "trainer/data/corpus.hpp"

namespace strata::trainer {

// A shuffle of [0, size) that needs no memory: a Feistel network over the next power of 4, walked until the
// value falls inside (Black & Rogaway 2002).
std::uint64_t shuffled(std::uint64_t index, std::uint64_t size, std::uint64_t key);

// The text is cut into windows of `sequence` tokens; an epoch goes through all of them in a random order, and
// begins its cut somewhere else than the one before.
class TrainSampler final {
 public:
  TrainSampler(Tokens text, std::size_t sequence, std::uint64_t seed);
  std::uint64_t samples_per_epoch() const { return windows_; }
  std::size_t offset_of(std::uint64_t sample) const;
  // tokens and targets: [count * sequence], from sample `first` on.
  void load(std::uint64_t first, std::size_t count, std::int32_t* tokens, std::int32_t* targets) const;

 private:
  Tokens text_;
  std::size_t sequence_;
  std::uint64_t seed_, windows_;
};

// The same `samples` windows every time, spread evenly over the text.
class ValidationSampler final {
 public:
  // samples 0: as many as fit side by side.
  ValidationSampler(Tokens text, std::size_t sequence, std::size_t samples);
  std::size_t samples() const { return samples_; }
  void load(std::size_t first, std::size_t count, std::int32_t* tokens, std::int32_t* targets) const;

 private:
  Tokens text_;
  std::size_t sequence_, samples_;
};

// The samples [begin, end) of [0, count) that are rank's.
struct SampleRange {
  std::uint64_t begin, end;
  std::uint64_t count() const { return end - begin; }
};
inline SampleRange share_of(std::uint64_t count, int rank, int ranks) {
  const auto r = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(ranks);
  return {count * r / n, count * (r + 1) / n};
}

}  // namespace strata::trainer
