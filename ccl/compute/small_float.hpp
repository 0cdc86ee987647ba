// How float16 and the two float8 formats lie in their bits; one description serves scalar and vector code.
#pragma once
#include <bit>
#include <cstdint>

namespace strata {

struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // the top exponent is infinity and NaN; without, only the all-ones code is NaN
  bool saturates;     // too large finite values become the largest finite one

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int shift() const { return 23 - mantissa_bits; }  // from float32's mantissa to this one
  constexpr int sign_shift() const { return 31 - exponent_bits - mantissa_bits; }
  constexpr std::uint32_t magnitude_mask() const { return (1u << (exponent_bits + mantissa_bits)) - 1; }
  constexpr std::uint32_t exponent_mask() const { return magnitude_mask() & ~((1u << mantissa_bits) - 1); }
  // Codes, without sign.
  constexpr std::uint32_t infinity() const { return exponent_mask(); }
  constexpr std::uint32_t nan() const {
    return has_infinity ? exponent_mask() | 1u << (mantissa_bits - 1) : magnitude_mask();
  }
  constexpr std::uint32_t largest() const { return has_infinity ? infinity() - 1 : nan() - 1; }
  // float32 bits.
  constexpr std::uint32_t rebias() const { return static_cast<std::uint32_t>(127 - bias()) << 23; }
  constexpr std::uint32_t smallest_normal() const { return rebias() + (1u << 23); }
  constexpr std::uint32_t largest_as_float32() const { return (largest() << shift()) + rebias(); }
  constexpr std::uint32_t overflow() const { return static_cast<std::uint32_t>(128 + bias()) << 23; }
  // A float32 whose last mantissa bit weighs as much as the smallest subnormal: adding it rounds to
  // subnormals.
  constexpr std::uint32_t subnormal_rounder() const {
    return static_cast<std::uint32_t>(127 + 1 - bias() + shift()) << 23;
  }
};

inline constexpr SmallFloat kFloat16{5, 10, true, false};
inline constexpr SmallFloat kFloat8E4M3{4, 3, false, true};
inline constexpr SmallFloat kFloat8E5M2{5, 2, true, true};

inline constexpr std::uint32_t kFloat32Infinity = 0x7f800000;

}  // namespace strata
