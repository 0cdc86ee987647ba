// Conversions of 16- and 8-bit floats: every code, and every boundary between two codes.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "ccl/compute/reduce.hpp"
#include "tests/compute/reference.hpp"

namespace strata::test {
namespace {

float decode(DataType type, unsigned code) {
  switch (type) {
    case DataType::float16: return to_float(Float16{static_cast<std::uint16_t>(code)});
    case DataType::bfloat16: return to_float(Bfloat16{static_cast<std::uint16_t>(code)});
    case DataType::float8_e4m3: return to_float(Float8E4M3{static_cast<std::uint8_t>(code)});
    default: return to_float(Float8E5M2{static_cast<std::uint8_t>(code)});
  }
}

unsigned encode(DataType type, float value) {
  switch (type) {
    case DataType::float16: return to_float16(value).bits;
    case DataType::bfloat16: return to_bfloat16(value).bits;
    case DataType::float8_e4m3: return to_float8_e4m3(value).bits;
    default: return to_float8_e5m2(value).bits;
  }
}

unsigned codes_of(DataType type) { return size_of(type) == 2 ? 1u << 16 : 1u << 8; }

void check_encoding(DataType type, float value) {
  const unsigned got = encode(type, value), wanted = nearest_code(type, value);
  if (got == wanted || (is_nan_code(type, got) && is_nan_code(type, wanted))) return;
  CAPTURE(to_string(type), value, got, wanted);
  FAIL("wrong rounding");
}

const DataType kSmall[] = {DataType::float16, DataType::bfloat16, DataType::float8_e4m3,
                           DataType::float8_e5m2};

}  // namespace

TEST_CASE("every code of a small float has the value its bits define, and converts back to itself") {
  for (DataType type : kSmall)
    for (unsigned code = 0; code < codes_of(type); ++code) {
      const double wanted = value_of_code(type, code), got = decode(type, code);
      const bool nan = std::isnan(wanted);
      const bool right = nan ? std::isnan(got) : got == wanted && std::signbit(got) == std::signbit(wanted);
      const unsigned back = encode(type, static_cast<float>(got));
      const bool returns = nan ? is_nan_code(type, back) : back == code;
      if (right && returns) continue;
      CAPTURE(to_string(type), code, wanted, got, back);
      FAIL("wrong conversion");
    }
}

TEST_CASE("rounding to a small float is to nearest even at, below and above every midpoint") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (DataType type : kSmall)
    for (unsigned code = 0; code + 1 < codes_of(type); ++code) {
      const double low = value_of_code(type, code), high = value_of_code(type, code + 1);
      if (std::isnan(low) || std::isnan(high)) continue;
      const float middle = static_cast<float>(std::isinf(high) ? low * 1.0001 : low + (high - low) / 2);
      check_encoding(type, middle);
      check_encoding(type, std::nextafter(middle, kInfinity));
      check_encoding(type, std::nextafter(middle, -kInfinity));
    }
}

TEST_CASE("rounding to a small float is right for any float32") {
  std::mt19937 random(20240611);
  for (DataType type : kSmall) {
    for (int i = 0; i < 200'000; ++i)
      check_encoding(type, std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    for (float special :
         {0.0f, 65504.0f, 65519.9f, 65520.0f, 65536.0f, 448.0f, 464.0f, 480.0f, 57344.0f, 61440.0f,
          std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::denorm_min()}) {
      check_encoding(type, special);
      check_encoding(type, -special);
    }
  }
}

}  // namespace strata::test
