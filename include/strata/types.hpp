// The words of the interface: what is moved, and what is done with it.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace strata {

using Rank = std::int32_t;  // index in a communicator, 0-based
inline constexpr Rank kNoRank = -1;

// float8: OCP 8-bit Floating Point Specification (OFP8), revision 1.0. e4m3 has no infinity; conversions
// saturate.
enum class DataType : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  float8_e4m3,
  float8_e5m2
};
inline constexpr int kDataTypes = 12;

// average: the sum divided by the number of ranks; integers truncate towards zero, and 8- and 32-bit ones are
// summed in 64 bits, so that the sum does not overflow. scaled_sum: CallOptions::scale times the sum.
// The bitwise ones are for integers only.
enum class ReduceOp : std::uint8_t { sum, product, min, max, average, bit_and, bit_or, bit_xor, scaled_sum };
inline constexpr int kReduceOps = 9;

enum class Collective : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  gather,
  scatter,
  send,
  recv
};
inline constexpr int kCollectives = 11;

constexpr std::uint64_t size_of(DataType type) {
  constexpr std::uint8_t kBytes[kDataTypes] = {1, 1, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1};
  return kBytes[static_cast<int>(type)];
}
constexpr bool is_integer(DataType type) { return type <= DataType::uint64; }

// float16, bfloat16 and float8 values travel as their bits.
struct Float16 {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};
struct Float8E4M3 {
  std::uint8_t bits;
};
struct Float8E5M2 {
  std::uint8_t bits;
};

template <class T>
inline constexpr bool kHasDataType = false;
template <class T>
struct DataTypeOf;
#define STRATA_DATA_TYPE_OF(T, name)                  \
  template <>                                         \
  struct DataTypeOf<T> {                              \
    static constexpr DataType value = DataType::name; \
  };                                                  \
  template <>                                         \
  inline constexpr bool kHasDataType<T> = true;
STRATA_DATA_TYPE_OF(std::int8_t, int8)
STRATA_DATA_TYPE_OF(std::uint8_t, uint8)
STRATA_DATA_TYPE_OF(std::int32_t, int32)
STRATA_DATA_TYPE_OF(std::uint32_t, uint32)
STRATA_DATA_TYPE_OF(std::int64_t, int64)
STRATA_DATA_TYPE_OF(std::uint64_t, uint64)
STRATA_DATA_TYPE_OF(Float16, float16)
STRATA_DATA_TYPE_OF(Bfloat16, bfloat16)
STRATA_DATA_TYPE_OF(float, float32)
STRATA_DATA_TYPE_OF(double, float64)
STRATA_DATA_TYPE_OF(Float8E4M3, float8_e4m3)
STRATA_DATA_TYPE_OF(Float8E5M2, float8_e5m2)
#undef STRATA_DATA_TYPE_OF
template <class T>
inline constexpr DataType data_type_of = DataTypeOf<std::remove_cv_t<T>>::value;

// "float32", "sum", "all_reduce", ...; "?" for a value outside the enumeration.
constexpr std::string_view to_string(DataType type) {
  constexpr std::string_view kNames[] = {"int8",    "uint8",   "int32",       "uint32",
                                         "int64",   "uint64",  "float16",     "bfloat16",
                                         "float32", "float64", "float8_e4m3", "float8_e5m2"};
  const auto i = static_cast<std::size_t>(type);
  return i < kDataTypes ? kNames[i] : "?";
}
constexpr std::string_view to_string(ReduceOp op) {
  constexpr std::string_view kNames[] = {"sum",     "product", "min",     "max",       "average",
                                         "bit_and", "bit_or",  "bit_xor", "scaled_sum"};
  const auto i = static_cast<std::size_t>(op);
  return i < kReduceOps ? kNames[i] : "?";
}
constexpr std::string_view to_string(Collective collective) {
  constexpr std::string_view kNames[] = {"barrier",        "broadcast",  "reduce",     "all_reduce",
                                         "reduce_scatter", "all_gather", "all_to_all", "gather",
                                         "scatter",        "send",       "recv"};
  const auto i = static_cast<std::size_t>(collective);
  return i < kCollectives ? kNames[i] : "?";
}

// Does the operation mean something on the type? (Bitwise operations do on integers only.)
constexpr bool is_defined(ReduceOp op, DataType type) {
  return !(op == ReduceOp::bit_and || op == ReduceOp::bit_or || op == ReduceOp::bit_xor) || is_integer(type);
}

}  // namespace strata
