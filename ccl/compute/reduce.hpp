// Reduction kernels, one set for the best vector instructions this CPU has (chosen at run time by Highway).
#pragma once
#include <cstddef>
#include <cstdint>

#include "strata/types.hpp"

namespace strata {

// into[i] = a[i] (op) b[i] for `count` elements. into may be a or b; other overlaps are not allowed. No alignment
// is needed. 16- and 8-bit floats are computed in float32 and rounded to nearest even once. average and scaled_sum
// add here; their scaling is FinishKernel's.
using ReduceKernel = void (*)(void* into, const void* a, const void* b, std::size_t count);

// into[i] = finish(into[i] (op) parts[0][i] (op) ... (op) parts[fan_in - 1][i]), where parts[k] begins
// k * count elements after `parts`. In that order; 16- and 8-bit floats accumulate in float32, and averages of
// integers in 64 bits, rounded once at the end. finish multiplies by `scale` (average: the caller passes
// 1.0 / ranks and integers divide by round(1 / scale), truncating); without `finish`, scale is ignored.
// fan_in may be 0: only the scaling is applied then.
using ReduceManyKernel = void (*)(void* into, const void* parts, std::size_t fan_in, std::size_t count, bool finish,
                                  double scale);

// Never null for a pair for which is_defined(op, type); null otherwise.
ReduceKernel reduce_kernel(DataType type, ReduceOp op);
ReduceManyKernel reduce_many_kernel(DataType type, ReduceOp op);

// "AVX3_ZEN4", ...: the instruction set the kernels were chosen for.
const char* vector_target();

// Scalar reference conversions, also for tests and tools.
float to_float(Float16), to_float(Bfloat16), to_float(Float8E4M3), to_float(Float8E5M2);
Float16 to_float16(float);
Bfloat16 to_bfloat16(float);
Float8E4M3 to_float8_e4m3(float);  // saturates to +-448; NaN stays NaN
Float8E5M2 to_float8_e5m2(float);  // finite values saturate to +-57344; infinities and NaN stay

}  // namespace strata
