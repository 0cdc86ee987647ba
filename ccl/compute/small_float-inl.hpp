// Formats of the 16- and 8-bit floats for loops-inl.hpp: float32 in registers, rounded to nearest even when
// stored. The arithmetic is that of small_float.cpp, on vectors. Included once for every instruction set.
#if defined(STRATA_COMPUTE_SMALL_FLOAT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_COMPUTE_SMALL_FLOAT_INL
#undef STRATA_COMPUTE_SMALL_FLOAT_INL
#else
#define STRATA_COMPUTE_SMALL_FLOAT_INL
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ccl/compute/loops-inl.hpp"
#include "ccl/compute/small_float.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {

using FloatTag = hn::ScalableTag<float>;
using BitsTag = hn::RebindToUnsigned<FloatTag>;
using IntTag =
    hn::RebindToSigned<FloatTag>;  // magnitudes are below 2^31, and signed comparison is the fast one

// Codes of type Code in the low bits of 32-bit lanes.
template <class Code>
HWY_INLINE Vector<BitsTag> load_codes(const std::byte* from) {
  return hn::PromoteTo(BitsTag(), load_lanes(hn::Rebind<Code, FloatTag>(), from));
}
template <class Code>
HWY_INLINE void store_codes(Vector<IntTag> codes, std::byte* into) {
  const hn::Rebind<Code, FloatTag> narrow;
  store_lanes(hn::DemoteTo(narrow, codes), narrow, into);
}

HWY_INLINE Vector<IntTag> constant(std::uint32_t bits) {
  return hn::Set(IntTag(), static_cast<std::int32_t>(bits));
}

template <SmallFloat F>
HWY_INLINE Vector<FloatTag> decode(Vector<BitsTag> codes) {
  const FloatTag df;
  const IntTag di;
  const auto sign = hn::ShiftLeft<F.sign_shift()>(hn::AndNot(hn::Set(BitsTag(), F.magnitude_mask()), codes));
  const auto magnitude = hn::BitCast(di, hn::And(codes, hn::Set(BitsTag(), F.magnitude_mask())));
  const auto normal = hn::Add(hn::ShiftLeft<F.shift()>(magnitude), constant(F.rebias()));
  const auto with_hidden = hn::Add(normal, constant(1u << 23));
  const auto subnormal =
      hn::Sub(hn::BitCast(df, with_hidden), hn::BitCast(df, constant(F.smallest_normal())));
  const auto is_subnormal = hn::Lt(magnitude, constant(1u << F.mantissa_bits));
  const auto finite = hn::IfThenElse(is_subnormal, hn::BitCast(di, subnormal), normal);
  const auto is_special = hn::Gt(magnitude, constant(F.largest()));
  const auto special = hn::IfThenElseZero(is_special, constant(kFloat32Infinity));
  return hn::BitCast(df, hn::Or(hn::BitCast(di, sign), hn::Or(finite, special)));
}

template <SmallFloat F>
HWY_INLINE Vector<IntTag> encode(Vector<FloatTag> value) {
  const FloatTag df;
  const IntTag di;
  const auto bits = hn::BitCast(BitsTag(), value);
  const auto sign = hn::ShiftRight<F.sign_shift()>(hn::And(bits, hn::Set(BitsTag(), 0x80000000u)));
  const auto given = hn::BitCast(di, hn::And(bits, hn::Set(BitsTag(), 0x7fffffffu)));
  const auto magnitude = F.saturates ? hn::Min(given, constant(F.largest_as_float32())) : given;
  const auto odd = hn::And(hn::ShiftRight<F.shift()>(magnitude), constant(1));
  const auto bias = constant((1u << (F.shift() - 1)) - 1 - F.rebias());
  const auto normal = hn::ShiftRight<F.shift()>(hn::Add(hn::Add(magnitude, bias), odd));
  const auto rounded = hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, constant(F.subnormal_rounder())));
  const auto subnormal = hn::Sub(hn::BitCast(di, rounded), constant(F.subnormal_rounder()));
  auto code = hn::IfThenElse(hn::Lt(magnitude, constant(F.smallest_normal())), subnormal, normal);
  if constexpr (F.has_infinity) {
    const std::uint32_t below_infinity = (F.saturates ? kFloat32Infinity : F.overflow()) - 1;
    code = hn::IfThenElse(hn::Gt(given, constant(below_infinity)), constant(F.infinity()), code);
  }
  code = hn::IfThenElse(hn::Gt(given, constant(kFloat32Infinity)), constant(F.nan()), code);
  return hn::Or(code, hn::BitCast(di, sign));
}

template <SmallFloat F>
struct SmallFloatFormat {
  using Tag = FloatTag;
  using Code = std::conditional_t<F.exponent_bits + F.mantissa_bits == 15, std::uint16_t, std::uint8_t>;
  static constexpr std::size_t kBytes = sizeof(Code);
  static HWY_INLINE Vector<Tag> load(Tag, const std::byte* from) { return decode<F>(load_codes<Code>(from)); }
  static HWY_INLINE void store(Vector<Tag> v, Tag, std::byte* into) { store_codes<Code>(encode<F>(v), into); }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// These have the conversions in hardware, NaN, infinities and subnormals included. On the other targets
// Highway's own emulation leaves those out.
template <>
struct SmallFloatFormat<kFloat16> {
  using Tag = FloatTag;
  using Half = hn::Rebind<hwy::float16_t, Tag>;
  using Codes = hn::Rebind<std::uint16_t, Tag>;
  static constexpr std::size_t kBytes = 2;
  static HWY_INLINE Vector<Tag> load(Tag d, const std::byte* from) {
    return hn::PromoteTo(d, hn::BitCast(Half(), load_lanes(Codes(), from)));
  }
  static HWY_INLINE void store(Vector<Tag> v, Tag, std::byte* into) {
    store_lanes(hn::BitCast(Codes(), hn::DemoteTo(Half(), v)), Codes(), into);
  }
};
#endif

struct Bfloat16Format {
  using Tag = FloatTag;
  static constexpr std::size_t kBytes = 2;
  static HWY_INLINE Vector<Tag> load(Tag d, const std::byte* from) {
    return hn::BitCast(d, hn::ShiftLeft<16>(load_codes<std::uint16_t>(from)));
  }
  static HWY_INLINE void store(Vector<Tag> v, Tag, std::byte* into) {
    const BitsTag du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
    const auto quiet_nan = hn::Or(bits, hn::Set(du, 0x400000u));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
    const auto code = hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet_nan, rounded));
    store_codes<std::uint16_t>(hn::BitCast(IntTag(), code), into);
  }
};

}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of one target
