// The table of kernels: a type belongs to a family, a family chooses by instruction set and operation.
#include "ccl/compute/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccl/compute/reduce.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file again for every other target.
#include "ccl/compute/kernels.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {
namespace {

const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata {
namespace {

Kernels find(DataType type, ReduceOp op) {
  if (static_cast<int>(type) >= kDataTypes || static_cast<int>(op) >= kReduceOps || !is_defined(op, type))
    return {};
  switch (type) {
    case DataType::float32:
    case DataType::float64: return float_kernels(type, op);
    case DataType::float16:
    case DataType::bfloat16: return float16_kernels(type, op);
    case DataType::float8_e4m3:
    case DataType::float8_e5m2: return float8_kernels(type, op);
    default: return integer_kernels(type, op);
  }
}

}  // namespace

ReduceKernel reduce_kernel(DataType type, ReduceOp op) { return find(type, op).reduce; }
ReduceManyKernel reduce_many_kernel(DataType type, ReduceOp op) { return find(type, op).reduce_many; }

HWY_EXPORT(name_of_target);
const char* vector_target() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

}  // namespace strata
#endif
