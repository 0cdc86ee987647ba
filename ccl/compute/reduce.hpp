// Reduction kernels, one set for the best vector instructions this CPU has (chosen at run time by Highway).
#pragma once
#include <cstddef>
#include <cstdint>

#include "strata/types.hpp"

namespace strata {

// into[i] = a[i] (op) b[i] for `count` elements. into may be a or b; other overlaps are not allowed. No
// alignment is needed. 16- and 8-bit floats are computed in float32 and rounded to nearest even once.
// Integers wrap. min and max are those of IEEE 754-2019: NaN if either is NaN, and -0 is below +0. average
// and scaled_sum add here; their scaling is ReduceManyKernel's.
using ReduceKernel = void (*)(void* into, const void* a, const void* b, std::size_t count);

// into[i] = finish(parts[0][i] (op) parts[1][i] (op) ... (op) parts[fan_in - 1][i]), for fan_in of 1 or more.
// In that order; 16- and 8-bit floats accumulate in float32, averages and scaled sums of integers in 64 bits
// (64-bit ones wrap), rounded once at the end. into may be one of the parts; other overlaps are not allowed.
// finish is nothing but for two operations; without `finish`, scale is ignored:
// - average divides by the number of ranks. The caller passes scale = 1.0 / ranks. Integers truncate towards
// zero.
// - scaled_sum multiplies by scale, in float32 for float32 and smaller, else in float64. Integers truncate
//   towards zero and saturate at their type's limits; scale 1 is exact for all types.
using ReduceManyKernel = void (*)(void* into, const void* const* parts, std::size_t fan_in, std::size_t count,
                                  bool finish, double scale);

// Never null for a pair for which is_defined(op, type); null otherwise.
ReduceKernel reduce_kernel(DataType type, ReduceOp op);
ReduceManyKernel reduce_many_kernel(DataType type, ReduceOp op);

// "AVX3", "NEON", ...: the instruction set the kernels were chosen for.
const char* vector_target();

// Scalar reference conversions, also for tests and tools.
float to_float(Float16), to_float(Bfloat16), to_float(Float8E4M3), to_float(Float8E5M2);
Float16 to_float16(float);
Bfloat16 to_bfloat16(float);
Float8E4M3 to_float8_e4m3(float);  // saturates to +-448; NaN stays NaN
Float8E5M2 to_float8_e5m2(float);  // finite values saturate to +-57344; infinities and NaN stay

}  // namespace strata
