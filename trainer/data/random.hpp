// Random numbers by position, not by history: the value at a counter depends on nothing but seed, stream and
// counter. So a weight or a sample is the same whoever draws it, in whatever order.
#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>

namespace strata::trainer {

// The finalizer of splitmix64 (Steele, Lea & Flood 2014): every bit of the input reaches every bit of the
// output.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct RandomStream {
  std::uint64_t key;
  constexpr RandomStream(std::uint64_t seed, std::uint64_t stream)
      : key(mix_bits(mix_bits(seed + 0x9e3779b97f4a7c15u) ^ (stream * 0xd1342543de82ef95u + 1))) {}
  constexpr std::uint64_t bits(std::uint64_t counter) const {
    return mix_bits(mix_bits(key + counter * 0x9e3779b97f4a7c15u) ^ key);
  }
  // In (0, 1).
  double uniform(std::uint64_t counter) const {
    return (static_cast<double>(bits(counter) >> 11) + 0.5) * 0x1.0p-53;
  }
  // Mean 0, deviation 1 (Box & Muller 1958).
  double normal(std::uint64_t counter) const {
    constexpr double kTwoPi = 6.283185307179586;
    return std::sqrt(-2 * std::log(uniform(2 * counter))) * std::cos(kTwoPi * uniform(2 * counter + 1));
  }
};

// FNV-1a: a stream's number from its name.
constexpr std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace strata::trainer
