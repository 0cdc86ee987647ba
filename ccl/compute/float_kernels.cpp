// Kernels of float32 and float64.
#include "ccl/compute/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccl/compute/float_kernels.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file again for every other target.
#include "ccl/compute/loops-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {
namespace {

Kernels choose(DataType type, ReduceOp op) {
  return type == DataType::float32 ? float_format_kernels<Native<float>>(op)
                                   : float_format_kernels<Native<double>>(op);
}

}  // namespace
}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata {

HWY_EXPORT(choose);
Kernels float_kernels(DataType type, ReduceOp op) { return HWY_DYNAMIC_DISPATCH(choose)(type, op); }

}  // namespace strata
#endif
