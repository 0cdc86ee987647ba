// What the reduction kernels must compute, worked out element by element and independently of them: small
// floats from the definition of their bits, integers in 128-bit arithmetic.
#pragma once
#include <cstddef>
#include <vector>

#include "strata/types.hpp"

namespace strata::test {

using Bytes = std::vector<std::byte>;

// The value of a 16- or 8-bit float's code, from sign, exponent and mantissa by ldexp.
double value_of_code(DataType type, unsigned code);
// The code whose value is nearest, ties to the even one; found by search among the values of all codes.
unsigned nearest_code(DataType type, double value);
bool is_nan_code(DataType type, unsigned code);

Bytes expected_two(DataType type, ReduceOp op, const Bytes& a, const Bytes& b);
// count elements of `into`; parts holds fan_in times as many.
Bytes expected_many(DataType type, ReduceOp op, const Bytes& into, const Bytes& parts, std::size_t fan_in,
                    bool finish, double scale);

// The index of the first element that differs (any NaN equals any other), or -1.
std::ptrdiff_t first_difference(DataType type, const Bytes& a, const Bytes& b);

}  // namespace strata::test
