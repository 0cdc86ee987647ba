// Kernels of the two 8-bit floats.
#include "ccl/compute/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccl/compute/float8_kernels.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file again for every other target.
#include "ccl/compute/small_float-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {
namespace {

Kernels choose(DataType type, ReduceOp op) {
  return type == DataType::float8_e4m3 ? float_format_kernels<SmallFloatFormat<kFloat8E4M3>>(op)
                                       : float_format_kernels<SmallFloatFormat<kFloat8E5M2>>(op);
}

}  // namespace
}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata {

HWY_EXPORT(choose);
Kernels float8_kernels(DataType type, ReduceOp op) { return HWY_DYNAMIC_DISPATCH(choose)(type, op); }

}  // namespace strata
#endif
