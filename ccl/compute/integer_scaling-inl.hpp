// Averages and scaled sums of integers: sums in 64 bits, then one division or product an element.
// Plain loops over a block that stays in the first-level cache; compilers make vectors of them.
#if defined(STRATA_COMPUTE_INTEGER_SCALING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_COMPUTE_INTEGER_SCALING_INL
#undef STRATA_COMPUTE_INTEGER_SCALING_INL
#else
#define STRATA_COMPUTE_INTEGER_SCALING_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {

inline constexpr std::size_t kBlockElements = 512;

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

// sums[i] += from[i]; modulo 2^64, so unsigned.
template <class T>
HWY_INLINE void add_block(std::uint64_t* HWY_RESTRICT sums, const std::byte* HWY_RESTRICT from,
                          std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + i * sizeof(T), sizeof(T));
    sums[i] += static_cast<std::uint64_t>(static_cast<Wide<T>>(element));
  }
}

// sums[i] / ranks, towards zero. Below 2^53 the division in float64 is exact enough that its integral part is
// the quotient, and it is several times faster; `magnitude` bounds the sums.
template <class T>
HWY_INLINE void divide_block(std::uint64_t* sums, std::size_t count, std::uint64_t ranks, double magnitude) {
  if (magnitude < 0x1p53 && ranks < (1ull << 53)) {
    const double divisor = static_cast<double>(ranks);
    for (std::size_t i = 0; i < count; ++i) {
      const double quotient = static_cast<double>(static_cast<std::int64_t>(sums[i])) / divisor;
      sums[i] = static_cast<std::uint64_t>(static_cast<std::int64_t>(quotient));
    }
    return;
  }
  const Wide<T> divisor = static_cast<Wide<T>>(ranks);
  for (std::size_t i = 0; i < count; ++i)
    sums[i] = static_cast<std::uint64_t>(static_cast<Wide<T>>(static_cast<Wide<T>>(sums[i]) / divisor));
}

// scale * sums[i], towards zero, at most T's limits; NaN becomes 0.
template <class T>
HWY_INLINE void scale_block(std::uint64_t* sums, std::size_t count, double scale) {
  if (sizeof(T) == 8 && scale == 1.0) return;  // float64 would round
  constexpr double kLowest = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kAbove =
      2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);  // one more than max
  for (std::size_t i = 0; i < count; ++i) {
    const double product = scale * static_cast<double>(static_cast<Wide<T>>(sums[i]));
    T result;
    if (product >= kAbove) {
      result = std::numeric_limits<T>::max();
    } else if (product <= kLowest) {
      result = std::numeric_limits<T>::min();
    } else {
      result = product == product ? static_cast<T>(product) : T{0};
    }
    sums[i] = static_cast<std::uint64_t>(static_cast<Wide<T>>(result));
  }
}

template <class T>
HWY_INLINE void store_block(const std::uint64_t* HWY_RESTRICT sums, std::byte* HWY_RESTRICT into,
                            std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const T element = static_cast<T>(sums[i]);
    std::memcpy(into + i * sizeof(T), &element, sizeof(T));
  }
}

inline std::uint64_t ranks_of(double scale) {
  const double ranks = std::round(1.0 / scale);
  return ranks >= 1.0 && ranks < 0x1p63 ? static_cast<std::uint64_t>(ranks) : 1;
}

// A ReduceManyKernel of average (kAverage) or scaled_sum.
template <class T, bool kAverage>
void integer_scaled_many(void* into, const void* const* parts, std::size_t fan_in, std::size_t count,
                         bool finish, double scale) {
  auto* const target = static_cast<std::byte*>(into);
  const std::uint64_t ranks = ranks_of(scale);
  const double magnitude = std::ldexp(static_cast<double>(fan_in), 8 * sizeof(T));
  for (std::size_t begin = 0; begin < count; begin += kBlockElements) {
    const std::size_t n = std::min(kBlockElements, count - begin);
    std::uint64_t sums[kBlockElements] = {};
    for (std::size_t k = 0; k < fan_in; ++k)
      add_block<T>(sums, static_cast<const std::byte*>(parts[k]) + begin * sizeof(T), n);
    if (finish && kAverage) divide_block<T>(sums, n, ranks, magnitude);
    if (finish && !kAverage) scale_block<T>(sums, n, scale);
    store_block<T>(sums, target + begin * sizeof(T), n);
  }
}

}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of one target
