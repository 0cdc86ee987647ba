#include "tools/strata_perf/small_float_codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace strata::perf {
namespace {

struct Layout {
  int exponent_bits, mantissa_bits, bias;
  bool infinity;  // the top exponent holds infinity and NaN; else only the all-ones code is NaN
};

constexpr Layout layout_of(DataType type) {
  switch (type) {
    case DataType::float16: return {5, 10, 15, true};
    case DataType::bfloat16: return {8, 7, 127, true};
    case DataType::float8_e4m3: return {4, 3, 7, false};
    case DataType::float8_e5m2: return {5, 2, 15, true};
    case DataType::float32: return {8, 23, 127, true};
    default: return {11, 52, 1023, true};
  }
}

double decode(const Layout& f, std::uint32_t code) {
  const std::uint32_t ones = (1u << f.mantissa_bits) - 1, top = (1u << f.exponent_bits) - 1;
  const std::uint32_t mantissa = code & ones, exponent = code >> f.mantissa_bits & top;
  const double sign = code >> (f.mantissa_bits + f.exponent_bits) & 1 ? -1.0 : 1.0;
  if (exponent == top && f.infinity && mantissa == 0) return sign * std::numeric_limits<double>::infinity();
  if (exponent == top && (f.infinity || mantissa == ones)) return std::numeric_limits<double>::quiet_NaN();
  const double significand = mantissa + (exponent ? std::ldexp(1.0, f.mantissa_bits) : 0.0);
  return sign * std::ldexp(significand, static_cast<int>(exponent ? exponent : 1) - f.bias - f.mantissa_bits);
}

std::uint32_t encode(const Layout& f, double value) {
  const std::uint32_t sign = std::signbit(value) ? 1u << (f.mantissa_bits + f.exponent_bits) : 0;
  if (value == 0) return sign;
  const int exponent = std::ilogb(value);
  const double significand = std::ldexp(std::abs(value), f.mantissa_bits - exponent);  // hidden bit included
  return sign | (static_cast<std::uint32_t>(significand) +
                 (static_cast<std::uint32_t>(exponent + f.bias - 1) << f.mantissa_bits));
}

// Both directions by table: data are filled and checked at memory speed, not at ldexp's.
struct Tables {
  std::vector<double> values;        // by code
  std::vector<std::uint16_t> codes;  // by halves + 2 * integers
  int integers;
};

Tables tables_of(DataType type) {
  const Layout f = layout_of(type);
  Tables t{{}, {}, exact_integers(type)};
  for (std::uint32_t code = 0; code < 1u << (8 * size_of(type)); ++code) t.values.push_back(decode(f, code));
  for (int halves = -2 * t.integers; halves <= 2 * t.integers; ++halves)
    t.codes.push_back(static_cast<std::uint16_t>(encode(f, halves / 2.0)));
  return t;
}

const Tables& tables(DataType type) {
  static const std::array<Tables, 4> all = {tables_of(DataType::float16), tables_of(DataType::bfloat16),
                                            tables_of(DataType::float8_e4m3),
                                            tables_of(DataType::float8_e5m2)};
  switch (type) {
    case DataType::float16: return all[0];
    case DataType::bfloat16: return all[1];
    case DataType::float8_e4m3: return all[2];
    default: return all[3];
  }
}

}  // namespace

double last_place(DataType type, double value) {
  const Layout f = layout_of(type);
  const int exponent = value == 0 ? 1 - f.bias : std::max(std::ilogb(value), 1 - f.bias);
  return std::ldexp(1.0, exponent - f.mantissa_bits);
}

int exact_integers(DataType type) {
  constexpr int kMostBits = 12;  // more would not test more
  return 1 << std::min(layout_of(type).mantissa_bits + 1, kMostBits);
}

double value_of_code(DataType type, std::uint32_t code) { return tables(type).values[code]; }

std::uint32_t code_of_halves(DataType type, int halves) {
  const Tables& t = tables(type);
  return t.codes[static_cast<std::size_t>(halves + 2 * t.integers)];
}

}  // namespace strata::perf
