// Draws training and validation samples from the text.
#include "trainer/data/sampler.hpp"

#include <algorithm>
#include <bit>

#include "trainer/data/random.hpp"

namespace strata::trainer {
namespace {

constexpr int kFeistelRounds = 4;

void copy_window(Tokens text, std::size_t offset, std::size_t sequence, std::int32_t* tokens,
                 std::int32_t* targets) {
  std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(offset), sequence, tokens);
  std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(offset) + 1, sequence, targets);
}

}  // namespace

std::uint64_t shuffled(std::uint64_t index, std::uint64_t size, std::uint64_t key) {
  if (size <= 1) return 0;
  const int half = (std::bit_width(size - 1) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t value = index;
  do {
    std::uint64_t left = value >> half, right = value & mask;
    for (int round = 0; round < kFeistelRounds; ++round) {
      const std::uint64_t mixed = mix_bits(right + mix_bits(key + static_cast<std::uint64_t>(round))) & mask;
      left = std::exchange(right, left ^ mixed);
    }
    value = left << half | right;
  } while (value >= size);
  return value;
}

TrainSampler::TrainSampler(Tokens text, std::size_t sequence, std::uint64_t seed)
    : text_(text), sequence_(sequence), seed_(seed), windows_((text.size() - sequence) / sequence) {}

std::size_t TrainSampler::offset_of(std::uint64_t sample) const {
  const RandomStream random(seed_, stream_of("samples"));
  const std::uint64_t epoch = sample / windows_;
  const std::uint64_t shift = random.bits(2 * epoch) % sequence_, key = random.bits(2 * epoch + 1);
  return shift + shuffled(sample % windows_, windows_, key) * sequence_;
}

void TrainSampler::load(std::uint64_t first, std::size_t count, std::int32_t* tokens,
                        std::int32_t* targets) const {
  for (std::size_t i = 0; i < count; ++i)
    copy_window(text_, offset_of(first + i), sequence_, tokens + i * sequence_, targets + i * sequence_);
}

ValidationSampler::ValidationSampler(Tokens text, std::size_t sequence, std::size_t samples)
    : text_(text), sequence_(sequence), samples_((text.size() - 1) / sequence) {
  if (samples > 0) samples_ = std::min(samples_, samples);
}

void ValidationSampler::load(std::size_t first, std::size_t count, std::int32_t* tokens,
                             std::int32_t* targets) const {
  const std::size_t room = text_.size() - 1 - sequence_, steps = std::max<std::size_t>(samples_ - 1, 1);
  for (std::size_t i = 0; i < count; ++i)
    copy_window(text_, (first + i) * room / steps, sequence_, tokens + i * sequence_,
                targets + i * sequence_);
}

}  // namespace strata::trainer
