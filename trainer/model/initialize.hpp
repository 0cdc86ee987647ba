// The first weights of a model.
#pragma once
#include <cstdint>

#include "trainer/model/parameters.hpp"

namespace strata::trainer {

// GPT-2's: normal with deviation 0.02, the two matrices that write to the residual divided by sqrt(2 layers);
// norms 1; biases 0. A value depends on the seed, the tensor's name and the element's index in the whole
// tensor. `weights` has table.floats() floats.
void initialize_weights(const ParameterTable& table, std::uint64_t seed, float* weights);

}  // namespace strata::trainer
