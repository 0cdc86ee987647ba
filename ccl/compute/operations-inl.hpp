// What is done with two vectors of elements. Included once for every instruction set.
#if defined(STRATA_COMPUTE_OPERATIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_COMPUTE_OPERATIONS_INL
#undef STRATA_COMPUTE_OPERATIONS_INL
#else
#define STRATA_COMPUTE_OPERATIONS_INL
#endif

#include <cmath>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Vector = hn::Vec<D>;

struct Sum {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::Add(a, b);
  }
};

struct Product {
  template <class D>
  static HWY_INLINE Vector<D> apply(D d, Vector<D> a, Vector<D> b) {
    if constexpr (sizeof(hn::TFromD<D>) == 1 && HWY_TARGET != HWY_SCALAR) {
      // No CPU multiplies bytes: the even and the odd ones as halves of 16-bit lanes.
      const hn::RepartitionToWide<D> wide;
      const auto a16 = hn::BitCast(wide, a), b16 = hn::BitCast(wide, b);
      const auto even = hn::And(hn::Mul(a16, b16), hn::Set(wide, 0x00ff));
      const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16)));
      return hn::BitCast(d, hn::Or(even, odd));
    } else {
      return hn::Mul(a, b);
    }
  }
};

// IEEE 754-2019 minimum and maximum: NaN if either is, and -0 is below +0. So the result does not depend on
// which rank's value comes first, and all ranks get the same bits whatever the algorithm.
template <class D>
HWY_INLINE Vector<D> nan_of_either(Vector<D> a, Vector<D> b, Vector<D> otherwise) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, otherwise));
}

struct Min {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const auto ordered = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), hn::Min(a, b));
      return nan_of_either<D>(a, b, ordered);
    } else {
      return hn::Min(a, b);
    }
  }
};

struct Max {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const auto ordered = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::Max(a, b));
      return nan_of_either<D>(a, b, ordered);
    } else {
      return hn::Max(a, b);
    }
  }
};

struct BitAnd {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::And(a, b);
  }
};

struct BitOr {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::Or(a, b);
  }
};

struct BitXor {
  template <class D>
  static HWY_INLINE Vector<D> apply(D, Vector<D> a, Vector<D> b) {
    return hn::Xor(a, b);
  }
};

// The last scalings of floats; integers have theirs in integer_scaling-inl.hpp.
struct NoScaling {
  template <class D>
  HWY_INLINE Vector<D> apply(D, Vector<D> v) const {
    return v;
  }
};

// A true division: the correctly rounded mean, which the product with a rounded 1 / ranks is not.
struct DivideByRanks {
  double ranks;
  explicit DivideByRanks(double scale) : ranks(std::round(1.0 / scale)) {}
  template <class D>
  HWY_INLINE Vector<D> apply(D d, Vector<D> v) const {
    return hn::Div(v, hn::Set(d, static_cast<hn::TFromD<D>>(ranks)));
  }
};

struct MultiplyByScale {
  double scale;
  explicit MultiplyByScale(double by) : scale(by) {}
  template <class D>
  HWY_INLINE Vector<D> apply(D d, Vector<D> v) const {
    return hn::Mul(v, hn::Set(d, static_cast<hn::TFromD<D>>(scale)));
  }
};

}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of one target
