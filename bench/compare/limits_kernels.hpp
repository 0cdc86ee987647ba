// The loops of the limits: plain ones, which the compiler makes vector code of, and those that write past the
// caches with the widest vectors at hand.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace strata::compare {

#ifdef __AVX512F__
using Vector = __m512;
inline Vector load(const float* from) { return _mm512_loadu_ps(from); }
inline void stream(float* into, Vector v) { _mm512_stream_ps(into, v); }
#else
using Vector = __m128;
inline Vector load(const float* from) { return _mm_loadu_ps(from); }
inline void stream(float* into, Vector v) { _mm_stream_ps(into, v); }
#endif
inline constexpr std::uint64_t kLanes = sizeof(Vector) / sizeof(float);

inline void copy(float* __restrict into, const float* __restrict from, std::uint64_t count) {
  std::memcpy(into, from, count * sizeof(float));
}

inline void add(float* __restrict sum, const float* __restrict a, const float* __restrict b,
                std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

// into: aligned to a vector.
inline void stream_copy(float* into, const float* from, std::uint64_t count) {
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) stream(into + i, load(from + i));
  copy(into + i, from + i, count - i);
  _mm_sfence();
}

inline void stream_add(float* sum, const float* a, const float* b, std::uint64_t count) {
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) stream(sum + i, load(a + i) + load(b + i));
  add(sum + i, a + i, b + i, count - i);
  _mm_sfence();
}

}  // namespace strata::compare
