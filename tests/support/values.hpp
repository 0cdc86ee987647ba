// Test data of every type: numbers in, bits in memory, numbers out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "strata/types.hpp"

namespace strata::test {

// Values that the type holds exactly are the caller's business.
void store(DataType type, std::byte* at, double value);
double load(DataType type, const std::byte* at);
std::vector<std::byte> encode(DataType type, const std::vector<double>& values);

// The serial result of `values` under the operation, by the definition, in double.
double combine(ReduceOp op, DataType type, const std::vector<double>& values, double scale);

}  // namespace strata::test
