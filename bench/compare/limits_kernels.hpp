// The loops of the limits. The compiler makes vector code of them; streaming ones write past the caches.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace strata::compare {

inline constexpr std::uint64_t kFloatsPerVector = 4;

inline void add(float* __restrict sum, const float* __restrict a, const float* __restrict b,
                std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

inline void add_into_both(float* __restrict sum, float* __restrict again, const float* __restrict a,
                          const float* __restrict b, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) sum[i] = again[i] = a[i] + b[i];
}

// sum, again: aligned to a vector.
inline void stream_sum_into_both(float* sum, float* again, const float* a, const float* b,
                                 std::uint64_t count) {
  std::uint64_t i = 0;
  for (; i + kFloatsPerVector <= count; i += kFloatsPerVector) {
    const __m128 v = _mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i));
    _mm_stream_ps(sum + i, v);
    _mm_stream_ps(again + i, v);
  }
  add_into_both(sum + i, again + i, a + i, b + i, count - i);
  _mm_sfence();
}

inline void stream_copy(float* into, const float* from, std::uint64_t count) {
  std::uint64_t i = 0;
  for (; i + kFloatsPerVector <= count; i += kFloatsPerVector)
    _mm_stream_ps(into + i, _mm_loadu_ps(from + i));
  for (; i < count; ++i) into[i] = from[i];
  _mm_sfence();
}

}  // namespace strata::compare
