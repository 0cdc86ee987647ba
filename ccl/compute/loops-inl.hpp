// The loops over elements, for any format in memory and any operation. Included once for every instruction
// set.
//
// A Format has: Tag, the vector's type in registers; kBytes of one element in memory; load(Tag, bytes) and
// store(vector, Tag, bytes), which move Lanes(Tag) elements from and to memory of any alignment.
#if defined(STRATA_COMPUTE_LOOPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_COMPUTE_LOOPS_INL
#undef STRATA_COMPUTE_LOOPS_INL
#else
#define STRATA_COMPUTE_LOOPS_INL
#endif

#include <cstddef>
#include <cstring>

#include "ccl/compute/kernels.hpp"
#include "ccl/compute/operations-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {

template <class D>
HWY_INLINE Vector<D> load_lanes(D d, const std::byte* from) {
  using T = hn::TFromD<D>;
#if HWY_TARGET == HWY_SCALAR
  T lane;  // the scalar target's own load wants aligned memory
  std::memcpy(&lane, from, sizeof lane);
  return hn::Set(d, lane);
#else
  return hn::LoadU(d, reinterpret_cast<const T*>(from));
#endif
}

template <class D>
HWY_INLINE void store_lanes(Vector<D> v, D d, std::byte* into) {
  using T = hn::TFromD<D>;
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  const T lane = hn::GetLane(v);
  std::memcpy(into, &lane, sizeof lane);
#else
  hn::StoreU(v, d, reinterpret_cast<T*>(into));
#endif
}

// Elements that registers hold as memory does.
template <class T>
struct Native {
  using Tag = hn::ScalableTag<T>;
  static constexpr std::size_t kBytes = sizeof(T);
  static HWY_INLINE Vector<Tag> load(Tag d, const std::byte* from) { return load_lanes(d, from); }
  static HWY_INLINE void store(Vector<Tag> v, Tag d, std::byte* into) { store_lanes(v, d, into); }
};

// A whole vector of elements, or the last few of them by way of a padded copy.
template <class Format>
struct WholeVector {
  HWY_INLINE auto load(typename Format::Tag d, const std::byte* from) const { return Format::load(d, from); }
  template <class V>
  HWY_INLINE void store(V v, typename Format::Tag d, std::byte* into) const {
    Format::store(v, d, into);
  }
};

template <class Format>
struct LastElements {
  std::size_t bytes;
  HWY_INLINE auto load(typename Format::Tag d, const std::byte* from) const {
    HWY_ALIGN std::byte padded[HWY_MAX_BYTES] = {};
    std::memcpy(padded, from, bytes);
    return Format::load(d, padded);
  }
  template <class V>
  HWY_INLINE void store(V v, typename Format::Tag d, std::byte* into) const {
    HWY_ALIGN std::byte padded[HWY_MAX_BYTES];
    Format::store(v, d, padded);
    std::memcpy(into, padded, bytes);
  }
};

// A ReduceKernel.
template <class Format, class Operation>
void reduce_two(void* into, const void* a, const void* b, std::size_t count) {
  const typename Format::Tag d;
  const auto one = [d](auto access, std::byte* target, const std::byte* left,
                       const std::byte* right) HWY_ATTR {
    access.store(Operation::apply(d, access.load(d, left), access.load(d, right)), d, target);
  };
  auto* const target = static_cast<std::byte*>(into);
  const auto* const left = static_cast<const std::byte*>(a);
  const auto* const right = static_cast<const std::byte*>(b);
  const std::size_t bytes = count * Format::kBytes, step = hn::Lanes(d) * Format::kBytes;
  std::size_t at = 0;
  for (; at + step <= bytes; at += step) one(WholeVector<Format>{}, target + at, left + at, right + at);
  if (at < bytes) one(LastElements<Format>{bytes - at}, target + at, left + at, right + at);
}

// One vector of the result, `at` bytes from the beginning: all its parts, then the scaling, one rounding.
template <class Format, class Operation, class Scaling, class Access>
HWY_INLINE void many_vector(Access access, std::byte* into, const std::byte* const* parts, std::size_t fan_in,
                            std::size_t at, Scaling scaling) {
  const typename Format::Tag d;
  auto sum = access.load(d, parts[0] + at);
  for (std::size_t k = 1; k < fan_in; ++k) sum = Operation::apply(d, sum, access.load(d, parts[k] + at));
  access.store(scaling.apply(d, sum), d, into + at);
}

// The same for four neighbours at once, which keeps the CPU's ports busy while sums wait for their turn.
template <class Format, class Operation, class Scaling>
HWY_INLINE void many_four_vectors(std::byte* into, const std::byte* const* parts, std::size_t fan_in,
                                  std::size_t at, Scaling scaling) {
  const typename Format::Tag d;
  const std::size_t step = hn::Lanes(d) * Format::kBytes;
  const std::byte* part = parts[0] + at;
  auto sum0 = Format::load(d, part), sum1 = Format::load(d, part + step);
  auto sum2 = Format::load(d, part + 2 * step), sum3 = Format::load(d, part + 3 * step);
  for (std::size_t k = 1; k < fan_in; ++k) {
    part = parts[k] + at;
    sum0 = Operation::apply(d, sum0, Format::load(d, part));
    sum1 = Operation::apply(d, sum1, Format::load(d, part + step));
    sum2 = Operation::apply(d, sum2, Format::load(d, part + 2 * step));
    sum3 = Operation::apply(d, sum3, Format::load(d, part + 3 * step));
  }
  Format::store(scaling.apply(d, sum0), d, into + at);
  Format::store(scaling.apply(d, sum1), d, into + at + step);
  Format::store(scaling.apply(d, sum2), d, into + at + 2 * step);
  Format::store(scaling.apply(d, sum3), d, into + at + 3 * step);
}

// Every element of `into` is written once, whatever the fan-in: sums live in registers.
template <class Format, class Operation, class Scaling>
void reduce_all(void* into, const void* const* parts, std::size_t fan_in, std::size_t count,
                Scaling scaling) {
  auto* const target = static_cast<std::byte*>(into);
  const auto* const sources = reinterpret_cast<const std::byte* const*>(parts);
  const std::size_t bytes = count * Format::kBytes;
  const std::size_t step = hn::Lanes(typename Format::Tag()) * Format::kBytes;
  std::size_t at = 0;
  for (; at + 4 * step <= bytes; at += 4 * step)
    many_four_vectors<Format, Operation>(target, sources, fan_in, at, scaling);
  for (; at + step <= bytes; at += step)
    many_vector<Format, Operation>(WholeVector<Format>{}, target, sources, fan_in, at, scaling);
  if (at < bytes)
    many_vector<Format, Operation>(LastElements<Format>{bytes - at}, target, sources, fan_in, at, scaling);
}

// ReduceManyKernels.
template <class Format, class Operation>
void reduce_many(void* into, const void* const* parts, std::size_t fan_in, std::size_t count, bool, double) {
  reduce_all<Format, Operation>(into, parts, fan_in, count, NoScaling{});
}

template <class Format, class Scaling>
void sum_many(void* into, const void* const* parts, std::size_t fan_in, std::size_t count, bool finish,
              double scale) {
  if (!finish) return reduce_many<Format, Sum>(into, parts, fan_in, count, false, 1.0);
  reduce_all<Format, Sum>(into, parts, fan_in, count, Scaling(scale));
}

template <class Format, class Operation>
Kernels kernels_of() {
  return {reduce_two<Format, Operation>, reduce_many<Format, Operation>};
}

// All operations of a float format.
template <class Format>
Kernels float_format_kernels(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return kernels_of<Format, Sum>();
    case ReduceOp::product: return kernels_of<Format, Product>();
    case ReduceOp::min: return kernels_of<Format, Min>();
    case ReduceOp::max: return kernels_of<Format, Max>();
    case ReduceOp::average: return {reduce_two<Format, Sum>, sum_many<Format, DivideByRanks>};
    case ReduceOp::scaled_sum: return {reduce_two<Format, Sum>, sum_many<Format, MultiplyByScale>};
    default: return {};
  }
}

}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of one target
