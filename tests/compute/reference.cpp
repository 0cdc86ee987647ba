// The reductions of the reference: one element at a time, in the widest type.
#include "tests/compute/reference.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace strata::test {
namespace {

using Int128 = __int128;

// Sums of floats take two operands of at most 24 bits, so that float64 followed by a rounding to float32
// rounds right.
template <class Accumulator>
Accumulator combine_floats(ReduceOp op, Accumulator a, Accumulator b) {
  const double x = a, y = b;
  switch (op) {
    case ReduceOp::product: return static_cast<Accumulator>(x * y);
    case ReduceOp::min:
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Accumulator>::quiet_NaN();
      return a == b ? (std::signbit(a) ? a : b) : (a < b ? a : b);
    case ReduceOp::max:
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Accumulator>::quiet_NaN();
      return a == b ? (std::signbit(a) ? b : a) : (a > b ? a : b);
    default: return static_cast<Accumulator>(x + y);
  }
}

template <class Accumulator>
Accumulator scale_float(ReduceOp op, Accumulator sum, double scale) {
  if (op == ReduceOp::average)
    return static_cast<Accumulator>(static_cast<double>(sum) / std::round(1 / scale));
  if (op == ReduceOp::scaled_sum)
    return static_cast<Accumulator>(static_cast<double>(sum) *
                                    static_cast<double>(static_cast<Accumulator>(scale)));
  return sum;
}

Int128 combine_integers(ReduceOp op, Int128 a, Int128 b) {
  switch (op) {
    case ReduceOp::product:
      return static_cast<Int128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
    case ReduceOp::min: return a < b ? a : b;
    case ReduceOp::max: return a > b ? a : b;
    case ReduceOp::bit_and: return a & b;
    case ReduceOp::bit_or: return a | b;
    case ReduceOp::bit_xor: return a ^ b;
    default: return a + b;
  }
}

template <class T>
T scale_integer(ReduceOp op, Int128 sum, double scale) {
  if (sizeof(T) == 8) sum = static_cast<T>(sum);  // the documented wrap
  if (op == ReduceOp::average) return static_cast<T>(sum / static_cast<Int128>(std::round(1 / scale)));
  if (op != ReduceOp::scaled_sum || (sizeof(T) == 8 && scale == 1)) return static_cast<T>(sum);
  const double product = std::trunc(scale * static_cast<double>(sum));
  if (std::isnan(product)) return 0;
  if (product >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
  if (product <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(product);
}

// One element of each type: how it is read, and how a result is written.
template <class T>
struct Integer {
  using Accumulator = Int128;
  using Memory = T;
  static Int128 read(DataType, T element) { return element; }
  static Int128 combine(ReduceOp op, Int128 a, Int128 b) { return combine_integers(op, a, b); }
  static T write(DataType, ReduceOp op, Int128 sum, bool finish, double scale) {
    return finish ? scale_integer<T>(op, sum, scale) : static_cast<T>(sum);
  }
};

template <class T>
struct Float {
  using Accumulator = T;
  using Memory = T;
  static T read(DataType, T element) { return element; }
  static T combine(ReduceOp op, T a, T b) { return combine_floats(op, a, b); }
  static T write(DataType, ReduceOp op, T sum, bool finish, double scale) {
    return finish ? scale_float(op, sum, scale) : sum;
  }
};

template <class Code>
struct Small {
  using Accumulator = float;
  using Memory = Code;
  static float read(DataType type, Code code) { return static_cast<float>(value_of_code(type, code)); }
  static float combine(ReduceOp op, float a, float b) { return combine_floats(op, a, b); }
  static Code write(DataType type, ReduceOp op, float sum, bool finish, double scale) {
    return static_cast<Code>(nearest_code(type, finish ? scale_float(op, sum, scale) : sum));
  }
};

template <class E>
typename E::Memory element(const Bytes& bytes, std::size_t index) {
  typename E::Memory value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

template <class E>
Bytes many(DataType type, ReduceOp op, const Bytes& into, const Bytes& parts, std::size_t fan_in, bool finish,
           double scale) {
  Bytes result(into.size());
  const std::size_t count = into.size() / sizeof(typename E::Memory);
  for (std::size_t i = 0; i < count; ++i) {
    auto sum = E::read(type, element<E>(into, i));
    for (std::size_t k = 0; k < fan_in; ++k)
      sum = E::combine(op, sum, E::read(type, element<E>(parts, k * count + i)));
    const auto out = E::write(type, op, sum, finish, scale);
    std::memcpy(result.data() + i * sizeof out, &out, sizeof out);
  }
  return result;
}

template <class T>
bool equal_at(const Bytes& a, const Bytes& b, std::size_t i) {
  const T x = element<Float<T>>(a, i), y = element<Float<T>>(b, i);
  return (x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0;
}

template <class Code>
bool equal_code_at(DataType type, const Bytes& a, const Bytes& b, std::size_t i) {
  const Code x = element<Small<Code>>(a, i), y = element<Small<Code>>(b, i);
  return x == y || (is_nan_code(type, x) && is_nan_code(type, y));
}

bool same_element(DataType type, const Bytes& a, const Bytes& b, std::size_t i) {
  switch (type) {
    case DataType::float32: return equal_at<float>(a, b, i);
    case DataType::float64: return equal_at<double>(a, b, i);
    case DataType::float16:
    case DataType::bfloat16: return equal_code_at<std::uint16_t>(type, a, b, i);
    case DataType::float8_e4m3:
    case DataType::float8_e5m2: return equal_code_at<std::uint8_t>(type, a, b, i);
    default:
      return std::memcmp(a.data() + i * size_of(type), b.data() + i * size_of(type), size_of(type)) == 0;
  }
}

}  // namespace

Bytes expected_many(DataType type, ReduceOp op, const Bytes& into, const Bytes& parts, std::size_t fan_in,
                    bool finish, double scale) {
  switch (type) {
    case DataType::int8: return many<Integer<std::int8_t>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::uint8: return many<Integer<std::uint8_t>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::int32: return many<Integer<std::int32_t>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::uint32: return many<Integer<std::uint32_t>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::int64: return many<Integer<std::int64_t>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::uint64: return many<Integer<std::uint64_t>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::float32: return many<Float<float>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::float64: return many<Float<double>>(type, op, into, parts, fan_in, finish, scale);
    case DataType::float16:
    case DataType::bfloat16: return many<Small<std::uint16_t>>(type, op, into, parts, fan_in, finish, scale);
    default: return many<Small<std::uint8_t>>(type, op, into, parts, fan_in, finish, scale);
  }
}

Bytes expected_two(DataType type, ReduceOp op, const Bytes& a, const Bytes& b) {
  return expected_many(type, op, a, b, 1, false, 1.0);
}

std::ptrdiff_t first_difference(DataType type, const Bytes& a, const Bytes& b) {
  if (a.size() != b.size()) return 0;
  if (a == b) return -1;
  for (std::size_t i = 0; i < a.size() / size_of(type); ++i)
    if (!same_element(type, a, b, i)) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

}  // namespace strata::test
