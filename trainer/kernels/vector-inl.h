// Vectors of floats over any length: a loop of full ones and one masked end. Compiled once per instruction
// set.
#if defined(STRATA_TRAINER_VECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TRAINER_VECTOR_INL
#undef STRATA_TRAINER_VECTOR_INL
#else
#define STRATA_TRAINER_VECTOR_INL
#endif
#include <cstddef>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::trainer::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
using FloatMask = hn::Mask<FloatTag>;
constexpr FloatTag kFloats;

inline std::size_t lanes() { return hn::Lanes(kFloats); }
inline Floats splat(float x) { return hn::Set(kFloats, x); }
inline float sum_of(Floats v) { return hn::GetLane(hn::SumOfLanes(kFloats, v)); }
inline float max_of(Floats v) { return hn::GetLane(hn::MaxOfLanes(kFloats, v)); }

struct FullVector {
  Floats load(const float* p) const { return hn::LoadU(kFloats, p); }
  Floats load_or(Floats, const float* p) const { return load(p); }
  Floats only(Floats v) const { return v; }
  void store(Floats v, float* p) const { hn::StoreU(v, kFloats, p); }
};

// The last few elements: lanes beyond them read as zero and are not written. Where the machine's masked
// accesses would touch the bytes beyond (before AVX2), the elements go through a small array.
struct PartVector {
  explicit PartVector(std::size_t n) : count(n), mask(hn::FirstN(kFloats, n)) {}
  Floats load(const float* p) const {
    if constexpr (kExactMasks) return hn::MaskedLoad(mask, kFloats, p);
    alignas(64) float lanes_of[hn::MaxLanes(kFloats)] = {};
    for (std::size_t i = 0; i < count; ++i) lanes_of[i] = p[i];
    return hn::Load(kFloats, lanes_of);
  }
  Floats load_or(Floats otherwise, const float* p) const { return hn::IfThenElse(mask, load(p), otherwise); }
  Floats only(Floats v) const { return hn::IfThenElseZero(mask, v); }
  void store(Floats v, float* p) const {
    if constexpr (kExactMasks) return hn::BlendedStore(v, mask, kFloats, p);
    alignas(64) float lanes_of[hn::MaxLanes(kFloats)];
    hn::Store(v, kFloats, lanes_of);
    for (std::size_t i = 0; i < count; ++i) p[i] = lanes_of[i];
  }
  static constexpr bool kExactMasks = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;
  std::size_t count;
  FloatMask mask;
};

// body(vector, index) for vectors that cover [begin, end).
template <class Body>
HWY_INLINE void for_vectors(std::size_t begin, std::size_t end, const Body& body) {
  const std::size_t step = lanes();
  std::size_t i = begin;
  for (; i + step <= end; i += step) body(FullVector{}, i);
  if (i < end) body(PartVector(end - i), i);
}

}  // namespace strata::trainer::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
