#include "tests/support/values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ccl/compute/reduce.hpp"

namespace strata::test {
namespace {

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T get(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

void store(DataType type, std::byte* at, double v) {
  switch (type) {
    case DataType::int8: return put(at, static_cast<std::int8_t>(v));
    case DataType::uint8: return put(at, static_cast<std::uint8_t>(v));
    case DataType::int32: return put(at, static_cast<std::int32_t>(v));
    case DataType::uint32: return put(at, static_cast<std::uint32_t>(v));
    case DataType::int64: return put(at, static_cast<std::int64_t>(v));
    case DataType::uint64: return put(at, static_cast<std::uint64_t>(v));
    case DataType::float16: return put(at, to_float16(static_cast<float>(v)));
    case DataType::bfloat16: return put(at, to_bfloat16(static_cast<float>(v)));
    case DataType::float32: return put(at, static_cast<float>(v));
    case DataType::float64: return put(at, v);
    case DataType::float8_e4m3: return put(at, to_float8_e4m3(static_cast<float>(v)));
    case DataType::float8_e5m2: return put(at, to_float8_e5m2(static_cast<float>(v)));
  }
}

double load(DataType type, const std::byte* at) {
  switch (type) {
    case DataType::int8: return get<std::int8_t>(at);
    case DataType::uint8: return get<std::uint8_t>(at);
    case DataType::int32: return get<std::int32_t>(at);
    case DataType::uint32: return get<std::uint32_t>(at);
    case DataType::int64: return static_cast<double>(get<std::int64_t>(at));
    case DataType::uint64: return static_cast<double>(get<std::uint64_t>(at));
    case DataType::float16: return to_float(get<Float16>(at));
    case DataType::bfloat16: return to_float(get<Bfloat16>(at));
    case DataType::float32: return get<float>(at);
    case DataType::float64: return get<double>(at);
    case DataType::float8_e4m3: return to_float(get<Float8E4M3>(at));
    case DataType::float8_e5m2: return to_float(get<Float8E5M2>(at));
  }
  return std::nan("");
}

std::vector<std::byte> encode(DataType type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) store(type, bytes.data() + i * size_of(type), values[i]);
  return bytes;
}

double combine(ReduceOp op, DataType type, const std::vector<double>& values, double scale) {
  double result = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto a = static_cast<std::int64_t>(result), b = static_cast<std::int64_t>(values[i]);
    switch (op) {
      case ReduceOp::product: result *= values[i]; break;
      case ReduceOp::min: result = std::min(result, values[i]); break;
      case ReduceOp::max: result = std::max(result, values[i]); break;
      case ReduceOp::bit_and: result = static_cast<double>(a & b); break;
      case ReduceOp::bit_or: result = static_cast<double>(a | b); break;
      case ReduceOp::bit_xor: result = static_cast<double>(a ^ b); break;
      default: result += values[i]; break;
    }
  }
  if (op == ReduceOp::average) result /= static_cast<double>(values.size());
  if (op == ReduceOp::scaled_sum) result *= scale;
  return is_integer(type) ? std::trunc(result) : result;
}

}  // namespace strata::test
