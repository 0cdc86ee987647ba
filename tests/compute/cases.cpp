// Element values that have broken kernels before: the extremes of every type.
#include "tests/compute/cases.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace strata::test {
namespace {

template <class T>
std::vector<T> extremes() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {T{0},     T{1},        static_cast<T>(-1),          L::min(),
                           L::max(), L::lowest(), static_cast<T>(L::max() / 2)};
  if constexpr (!L::is_integer)
    for (T v : {L::infinity(), L::quiet_NaN(), L::signaling_NaN(), L::denorm_min(), L::epsilon(), T{0.5}}) {
      values.push_back(v);
      values.push_back(-v);
    }
  return values;
}

// Zero, smallest subnormal, smallest normal, one, largest, infinity, NaN, and their negatives.
std::vector<std::uint16_t> special_halves(DataType type) {
  std::vector<std::uint16_t> codes = {0, 1, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x0400, 0x03ff, 0x3bff};
  if (type == DataType::bfloat16)
    codes = {0, 1, 0x3f80, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x0080, 0x007f, 0x3f7f};
  for (std::size_t i = 0, n = codes.size(); i < n; ++i) codes.push_back(codes[i] | 0x8000);
  return codes;
}

template <class T>
void sprinkle(Bytes& bytes, const std::vector<T>& values, Random& random) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T))
    if (random() % 3 == 0) std::memcpy(bytes.data() + at, &values[random() % values.size()], sizeof(T));
}

}  // namespace

Bytes hostile_bytes(DataType type, std::size_t count, Random& random) {
  Bytes bytes(count * size_of(type));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  switch (type) {
    case DataType::int8: sprinkle(bytes, extremes<std::int8_t>(), random); break;
    case DataType::int32: sprinkle(bytes, extremes<std::int32_t>(), random); break;
    case DataType::uint32: sprinkle(bytes, extremes<std::uint32_t>(), random); break;
    case DataType::int64: sprinkle(bytes, extremes<std::int64_t>(), random); break;
    case DataType::uint64: sprinkle(bytes, extremes<std::uint64_t>(), random); break;
    case DataType::float32: sprinkle(bytes, extremes<float>(), random); break;
    case DataType::float64: sprinkle(bytes, extremes<double>(), random); break;
    case DataType::float16:
    case DataType::bfloat16: sprinkle(bytes, special_halves(type), random); break;
    default: break;  // all 256 codes come up anyway
  }
  return bytes;
}

}  // namespace strata::test
