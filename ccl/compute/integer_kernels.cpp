// Kernels of the integer types.
#include "ccl/compute/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccl/compute/integer_kernels.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file again for every other target.
#include "ccl/compute/integer_scaling-inl.hpp"
#include "ccl/compute/loops-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {
namespace {

// Sums and products wrap, so signed types share the unsigned kernels; only order and division tell them
// apart.
template <class T>
Kernels integer(ReduceOp op) {
  using Unsigned = Native<std::make_unsigned_t<T>>;
  switch (op) {
    case ReduceOp::sum: return kernels_of<Unsigned, Sum>();
    case ReduceOp::product: return kernels_of<Unsigned, Product>();
    case ReduceOp::min: return kernels_of<Native<T>, Min>();
    case ReduceOp::max: return kernels_of<Native<T>, Max>();
    case ReduceOp::average: return {reduce_two<Unsigned, Sum>, integer_scaled_many<T, true>};
    case ReduceOp::bit_and: return kernels_of<Unsigned, BitAnd>();
    case ReduceOp::bit_or: return kernels_of<Unsigned, BitOr>();
    case ReduceOp::bit_xor: return kernels_of<Unsigned, BitXor>();
    case ReduceOp::scaled_sum: return {reduce_two<Unsigned, Sum>, integer_scaled_many<T, false>};
  }
  return {};
}

Kernels choose(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::int8: return integer<std::int8_t>(op);
    case DataType::uint8: return integer<std::uint8_t>(op);
    case DataType::int32: return integer<std::int32_t>(op);
    case DataType::uint32: return integer<std::uint32_t>(op);
    case DataType::int64: return integer<std::int64_t>(op);
    case DataType::uint64: return integer<std::uint64_t>(op);
    default: return {};
  }
}

}  // namespace
}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata {

HWY_EXPORT(choose);
Kernels integer_kernels(DataType type, ReduceOp op) { return HWY_DYNAMIC_DISPATCH(choose)(type, op); }

}  // namespace strata
#endif
