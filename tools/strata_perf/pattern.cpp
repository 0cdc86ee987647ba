#include "tools/strata_perf/pattern.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tools/strata_perf/small_float_codec.hpp"

namespace strata::perf {
namespace {

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finaliser
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The random bits of one element index, shared by all ranks, and of one rank's element.
std::uint64_t bits_of_index(const Pattern& p, std::uint64_t index) {
  return mix(p.seed + (index + 1) * 0x9e3779b97f4a7c15ull);
}
std::uint64_t bits_of_rank(std::uint64_t index_bits, Rank rank) {
  return mix(index_bits ^ static_cast<std::uint64_t>(rank + 1) * 0xd1342543de82ef95ull);
}

// Only some ranks contribute to an element where all of them would exceed what is exact. Which, changes by
// index.
bool contributes(const Pattern& p, std::uint64_t index_bits, Rank rank, int contributors) {
  if (contributors >= p.ranks) return true;
  const int start = static_cast<int>(index_bits % static_cast<std::uint64_t>(p.ranks));
  return (rank + start) % p.ranks < contributors;
}

int between(std::uint64_t bits, int low, int high) {
  const auto choices = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
  return static_cast<int>(low + static_cast<std::int64_t>(bits % choices));
}

// A float's value, in halves.
int float_halves(const Pattern& p, std::uint64_t index_bits, Rank rank) {
  const std::uint64_t bits = bits_of_rank(index_bits, rank);
  const int limit = exact_integers(p.type);
  if (!p.reduces || p.op == ReduceOp::min || p.op == ReduceOp::max) return 2 * between(bits, -limit, limit);
  if (p.op == ReduceOp::product) {
    // Powers of two, few enough that no partial product leaves the range of any type.
    const int magnitude = contributes(p, index_bits, rank, 4) ? 1 << between(bits, 0, 2) : 2;
    return bits >> 63 ? -magnitude : magnitude;
  }
  const int contributors = std::min(p.ranks, limit);
  if (!contributes(p, index_bits, rank, contributors)) return 0;
  const int most = std::max(1, limit / contributors);
  return 2 * between(bits, -most, most);
}

// Integers wrap, so sums and products of any bits are exact; where a division or a scaling follows they must
// not.
template <class T>
T integer_value(const Pattern& p, std::uint64_t index_bits, Rank rank) {
  const std::uint64_t bits = bits_of_rank(index_bits, rank);
  const bool averages = p.reduces && p.op == ReduceOp::average,
             scales = p.reduces && p.op == ReduceOp::scaled_sum;
  if (!scales && !(averages && sizeof(T) == 8))
    return static_cast<T>(bits);  // small averages are summed in 64 bits
  constexpr int kMost = std::min<std::uint64_t>(std::numeric_limits<T>::max(), 1 << 30);
  const int contributors = std::min(p.ranks, kMost);
  if (!contributes(p, index_bits, rank, contributors)) return 0;
  const int most = kMost / contributors;
  return static_cast<T>(between(bits, std::is_signed_v<T> ? -most : 0, most));
}

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

template <class T>
struct Integer {
  using Memory = T;
  using Value = T;
  static Memory input(const Pattern& p, std::uint64_t index_bits, Rank rank) {
    return integer_value<T>(p, index_bits, rank);
  }
  static Memory reduced(const Pattern& p, std::uint64_t index_bits) {
    std::uint64_t sum = static_cast<std::uint64_t>(static_cast<Wide<T>>(input(p, index_bits, 0)));
    for (Rank r = 1; r < p.ranks; ++r)
      sum = combine(p.op, sum, static_cast<std::uint64_t>(static_cast<Wide<T>>(input(p, index_bits, r))));
    if (p.op == ReduceOp::average)
      return static_cast<T>(static_cast<Wide<T>>(sum) / static_cast<Wide<T>>(p.ranks));
    if (p.op == ReduceOp::scaled_sum)
      return static_cast<T>(Pattern::kScale * static_cast<double>(static_cast<Wide<T>>(sum)));
    return static_cast<T>(sum);
  }
  static bool equal(const Pattern&, Memory got, Memory wanted, bool) { return got == wanted; }

 private:
  static std::uint64_t combine(ReduceOp op, std::uint64_t a, std::uint64_t b) {
    const auto x = static_cast<Wide<T>>(a), y = static_cast<Wide<T>>(b);
    switch (op) {
      case ReduceOp::product: return a * b;
      case ReduceOp::min: return x < y ? a : b;
      case ReduceOp::max: return x > y ? a : b;
      case ReduceOp::bit_and: return a & b;
      case ReduceOp::bit_or: return a | b;
      case ReduceOp::bit_xor: return a ^ b;
      default: return a + b;
    }
  }
};

double combine_floats(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::product: return a * b;
    case ReduceOp::min: return std::min(a, b);
    case ReduceOp::max: return std::max(a, b);
    default: return a + b;
  }
}

bool nearly_equal(const Pattern& p, double got, double wanted) {
  return std::abs(got - wanted) <= 2 * last_place(p.type, wanted);
}

// M: how memory holds it. float and double are their own value.
template <class M>
struct Float {
  using Memory = M;
  using Value = double;
  static Memory input(const Pattern& p, std::uint64_t index_bits, Rank rank) {
    const int halves = float_halves(p, index_bits, rank);
    if constexpr (std::is_floating_point_v<M>)
      return static_cast<M>(halves) / 2;
    else
      return static_cast<M>(code_of_halves(p.type, halves));
  }
  static double reduced(const Pattern& p, std::uint64_t index_bits) {
    double sum = float_halves(p, index_bits, 0) / 2.0;
    for (Rank r = 1; r < p.ranks; ++r) sum = combine_floats(p.op, sum, float_halves(p, index_bits, r) / 2.0);
    if (p.op == ReduceOp::average) return sum / p.ranks;
    return p.op == ReduceOp::scaled_sum ? sum * Pattern::kScale : sum;
  }
  static bool equal(const Pattern& p, Memory got, double wanted, bool is_reduced) {
    const double value = value_of(p, got);
    return is_reduced && p.op == ReduceOp::average ? nearly_equal(p, value, wanted) : value == wanted;
  }
  static double value_of(const Pattern& p, Memory memory) {
    if constexpr (std::is_floating_point_v<M>)
      return memory;
    else
      return value_of_code(p.type, memory);
  }
};

template <class E>
void fill_elements(const Pattern& p, Rank owner, std::uint64_t count, std::byte* into) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const typename E::Memory element = E::input(p, bits_of_index(p, i), owner);
    std::memcpy(into + i * sizeof element, &element, sizeof element);
  }
}

template <class E>
typename E::Value wanted_value(const Pattern& p, Rank owner, std::uint64_t index_bits) {
  if (owner == Source::kAllRanks) return E::reduced(p, index_bits);
  const typename E::Memory element = E::input(p, index_bits, owner);
  if constexpr (std::is_same_v<typename E::Value, typename E::Memory>)
    return element;
  else
    return E::value_of(p, element);
}

template <class E>
std::uint64_t wrong_elements(const Pattern& p, std::span<const Source> sources, const std::byte* data) {
  std::uint64_t wrong = 0;
  for (const Source& source : sources)
    for (std::uint64_t i = 0; i < source.count; ++i, data += sizeof(typename E::Memory)) {
      typename E::Memory got;
      std::memcpy(&got, data, sizeof got);
      const auto wanted = wanted_value<E>(p, source.owner, bits_of_index(p, source.first + i));
      wrong += !E::equal(p, got, wanted, source.owner == Source::kAllRanks);
    }
  return wrong;
}

// Calls f with the element kind of the type.
template <class F>
auto for_type(DataType type, F f) {
  switch (type) {
    case DataType::int8: return f(Integer<std::int8_t>());
    case DataType::uint8: return f(Integer<std::uint8_t>());
    case DataType::int32: return f(Integer<std::int32_t>());
    case DataType::uint32: return f(Integer<std::uint32_t>());
    case DataType::int64: return f(Integer<std::int64_t>());
    case DataType::uint64: return f(Integer<std::uint64_t>());
    case DataType::float32: return f(Float<float>());
    case DataType::float64: return f(Float<double>());
    case DataType::float16:
    case DataType::bfloat16: return f(Float<std::uint16_t>());
    default: return f(Float<std::uint8_t>());
  }
}

}  // namespace

void fill(const Pattern& pattern, Rank owner, std::uint64_t count, void* into) {
  for_type(pattern.type,
           [&]<class E>(E) { fill_elements<E>(pattern, owner, count, static_cast<std::byte*>(into)); });
}

std::uint64_t count_wrong(const Pattern& pattern, std::span<const Source> sources, const void* data) {
  return for_type(pattern.type, [&]<class E>(E) {
    return wrong_elements<E>(pattern, sources, static_cast<const std::byte*>(data));
  });
}

}  // namespace strata::perf
