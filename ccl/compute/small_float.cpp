// Scalar conversions between float32 and the 16- and 8-bit floats. Rounding is to nearest even. Neither way
// reads or makes a subnormal float32 on purpose, so that a thread that flushes them gets the same results.
#include "ccl/compute/small_float.hpp"

#include <algorithm>

#include "ccl/compute/reduce.hpp"

namespace strata {
namespace {

float decode(const SmallFloat& f, std::uint32_t code) {
  const std::uint32_t sign = code >> (f.exponent_bits + f.mantissa_bits) << 31;
  const std::uint32_t magnitude = code & f.magnitude_mask();
  const std::uint32_t exponent = magnitude & f.exponent_mask();
  std::uint32_t bits = (magnitude << f.shift()) + f.rebias();
  if (exponent == 0) {
    // One exponent up and minus the hidden bit that this brings in.
    const std::uint32_t with_hidden = bits + (1u << 23);
    bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(with_hidden) -
                                        std::bit_cast<float>(f.smallest_normal()));
  }
  const bool special = f.has_infinity ? exponent == f.exponent_mask() : magnitude == f.nan();
  return std::bit_cast<float>(sign | bits | (special ? kFloat32Infinity : 0));
}

std::uint32_t encode_magnitude(const SmallFloat& f, std::uint32_t bits) {
  if (bits > kFloat32Infinity) return f.nan();
  if (bits == kFloat32Infinity && f.has_infinity) return f.infinity();
  if (!f.saturates && bits >= f.overflow()) return f.infinity();
  if (f.saturates) bits = std::min(bits, f.largest_as_float32());
  if (bits < f.smallest_normal()) {
    const float rounded = std::bit_cast<float>(bits) + std::bit_cast<float>(f.subnormal_rounder());
    return std::bit_cast<std::uint32_t>(rounded) - f.subnormal_rounder();
  }
  const std::uint32_t odd = bits >> f.shift() & 1;
  return (bits - f.rebias() + (1u << (f.shift() - 1)) - 1 + odd) >> f.shift();
}

std::uint32_t encode(const SmallFloat& f, float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return (bits >> 31) << (f.exponent_bits + f.mantissa_bits) | encode_magnitude(f, bits & 0x7fffffff);
}

}  // namespace

float to_float(Float16 value) { return decode(kFloat16, value.bits); }
float to_float(Float8E4M3 value) { return decode(kFloat8E4M3, value.bits); }
float to_float(Float8E5M2 value) { return decode(kFloat8E5M2, value.bits); }
float to_float(Bfloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

Float16 to_float16(float value) { return {static_cast<std::uint16_t>(encode(kFloat16, value))}; }
Float8E4M3 to_float8_e4m3(float value) { return {static_cast<std::uint8_t>(encode(kFloat8E4M3, value))}; }
Float8E5M2 to_float8_e5m2(float value) { return {static_cast<std::uint8_t>(encode(kFloat8E5M2, value))}; }

Bfloat16 to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > kFloat32Infinity) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

}  // namespace strata
