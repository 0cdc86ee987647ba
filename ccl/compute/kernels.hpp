// The families of kernels. Each is one file, compiled once for every instruction set.
#pragma once
#include "ccl/compute/reduce.hpp"

namespace strata {

struct Kernels {
  ReduceKernel reduce = nullptr;
  ReduceManyKernel reduce_many = nullptr;
};

// Each returns the kernels of the best instruction set the CPU has, never a trampoline: the choice is made
// when the pointer is asked for, not when it is called. `type` is one of the family's; is_defined(op, type).
Kernels integer_kernels(DataType type, ReduceOp op);
Kernels float_kernels(DataType type, ReduceOp op);    // float32, float64
Kernels float16_kernels(DataType type, ReduceOp op);  // float16, bfloat16
Kernels float8_kernels(DataType type, ReduceOp op);   // e4m3, e5m2

}  // namespace strata
