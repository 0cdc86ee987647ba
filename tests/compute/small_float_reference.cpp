// 16- and 8-bit floats from the definition of their bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "tests/compute/reference.hpp"

namespace strata::test {
namespace {

struct Layout {
  int exponent_bits, mantissa_bits, bias;
  bool infinity;  // the top exponent holds infinity and NaN, else only all ones is NaN
  bool saturates;
};

Layout layout_of(DataType type) {
  switch (type) {
    case DataType::float16: return {5, 10, 15, true, false};
    case DataType::bfloat16: return {8, 7, 127, true, false};
    case DataType::float8_e4m3: return {4, 3, 7, false, true};
    default: return {5, 2, 15, true, true};
  }
}

struct Magnitudes {
  std::vector<double> values;  // of the non-negative codes in order, up to the largest finite one
  double overflow;             // the value the next code would have
};

const Magnitudes& magnitudes_of(DataType type) {
  static std::map<DataType, Magnitudes> tables;
  Magnitudes& table = tables[type];
  if (table.values.empty()) {
    for (unsigned code = 0; std::isfinite(value_of_code(type, code)); ++code)
      table.values.push_back(value_of_code(type, code));
    const std::size_t n = table.values.size();
    table.overflow = 2 * table.values[n - 1] - table.values[n - 2];
  }
  return table;
}

unsigned nearest_magnitude(DataType type, double value) {
  const Layout f = layout_of(type);
  const Magnitudes& table = magnitudes_of(type);
  const unsigned largest = static_cast<unsigned>(table.values.size()) - 1;
  if (std::isinf(value)) return f.infinity ? largest + 1 : largest;
  const auto above = std::lower_bound(table.values.begin(), table.values.end(), value);
  const unsigned upper = static_cast<unsigned>(above - table.values.begin());
  if (upper > largest && f.saturates) return largest;
  const double upper_value = upper > largest ? table.overflow : *above;
  if (upper_value == value || upper == 0) return upper;
  const double below = value - table.values[upper - 1], beyond = upper_value - value;
  if (below != beyond) return below < beyond ? upper - 1 : std::min(upper, largest + 1);
  return upper % 2 == 0 ? upper : upper - 1;
}

}  // namespace

double value_of_code(DataType type, unsigned code) {
  const Layout f = layout_of(type);
  const unsigned mantissa = code & ((1u << f.mantissa_bits) - 1);
  const unsigned top = (1u << f.exponent_bits) - 1;
  const unsigned exponent = code >> f.mantissa_bits & top;
  const double sign = code >> (f.mantissa_bits + f.exponent_bits) & 1 ? -1.0 : 1.0;
  if (f.infinity && exponent == top)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (!f.infinity && exponent == top && mantissa == (1u << f.mantissa_bits) - 1)
    return std::numeric_limits<double>::quiet_NaN();
  const double significand = mantissa + (exponent ? std::ldexp(1.0, f.mantissa_bits) : 0.0);
  return sign * std::ldexp(significand, static_cast<int>(std::max(exponent, 1u)) - f.bias - f.mantissa_bits);
}

unsigned nearest_code(DataType type, double value) {
  const Layout f = layout_of(type);
  const unsigned sign = std::signbit(value) ? 1u << (f.mantissa_bits + f.exponent_bits) : 0;
  if (std::isnan(value)) return sign | ((1u << (f.mantissa_bits + f.exponent_bits)) - 1);
  return sign | nearest_magnitude(type, std::abs(value));
}

bool is_nan_code(DataType type, unsigned code) { return std::isnan(value_of_code(type, code)); }

}  // namespace strata::test
