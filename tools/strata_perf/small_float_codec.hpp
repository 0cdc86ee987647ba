// Codes of the 16- and 8-bit floats, for test data: exact values only, so nothing is ever rounded.
#pragma once
#include <cstdint>

#include "strata/types.hpp"

namespace strata::perf {

// All integers up to this magnitude are exact in the type (float64: as many as we use).
int exact_integers(DataType type);
// The distance between neighbouring values of the float type around this one.
double last_place(DataType type, double value);

// type: one of the 16- and 8-bit floats. The value of a code, from the definition of its bits.
double value_of_code(DataType type, std::uint32_t code);
// The code of `halves` / 2, which must be exact and at most exact_integers(type) in magnitude.
std::uint32_t code_of_halves(DataType type, int halves);

}  // namespace strata::perf
