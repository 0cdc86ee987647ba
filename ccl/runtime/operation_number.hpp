// What ranks call an operation: a number that all of them come to by themselves, so that nothing has to be
// agreed. Within a communicator, and for a message between two of its ranks, no two operations have the same.
//
//   bit 63      a message: send or recv
//   bit 62      named; bits 60-24 are its name's identity, 23-0 count its calls
//   bit 61      a message from the higher of the two ranks to the lower
//   the rest    not named: counts the collectives of the communicator, or the messages that way
#pragma once
#include <cstdint>
#include <string_view>

#include "strata/types.hpp"

namespace strata {

inline constexpr std::uint64_t kPointToPoint = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kNamed = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kDownwards = std::uint64_t{1} << 61;
inline constexpr int kCallBits = 24;
inline constexpr std::uint64_t kCallMask = (std::uint64_t{1} << kCallBits) - 1;
inline constexpr std::uint64_t kNameMask = (kDownwards - 1) & ~kCallMask;

constexpr bool is_point_to_point(std::uint64_t number) { return (number & kPointToPoint) != 0; }
constexpr bool is_named(std::uint64_t number) { return (number & kNamed) != 0; }

// The bits of a message from one rank to another.
constexpr std::uint64_t message_bits(Rank from, Rank to) {
  return kPointToPoint | (from > to ? kDownwards : 0);
}
// Whether the message with this number goes out from `me`, of the two.
constexpr bool goes_out(std::uint64_t number, Rank me, Rank peer) {
  return ((number & kDownwards) != 0) == (me > peer);
}

// How many operations of its kind, or of its name, came before it.
constexpr std::uint64_t count_of(std::uint64_t number) {
  return number & (is_named(number) ? kCallMask : kDownwards - 1);
}
// Those of a name have this in common.
constexpr std::uint64_t without_call(std::uint64_t number) { return number & ~kCallMask; }
// The n-th call of a name, from 0; counts go round, and calls that meet are never 2^23 apart.
constexpr std::uint64_t with_call(std::uint64_t number, std::uint64_t n) {
  return without_call(number) | (n & kCallMask);
}
// Of two calls of one name, does `a` come before call `n`?
constexpr bool is_before(std::uint64_t a, std::uint64_t n) {
  return ((n - a - 1) & kCallMask) < (kCallMask >> 1);
}

// The identity of a name, in its place. FNV-1a, then mixed, since names often differ in their last letter.
constexpr std::uint64_t name_bits(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 27) * 0x94d049bb133111ebu;
  return kNamed | ((h ^ h >> 31) & kNameMask);
}

}  // namespace strata
