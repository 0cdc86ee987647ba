// Draws each weight by its name and index.
#include "trainer/model/initialize.hpp"

#include <algorithm>
#include <cmath>

#include "trainer/data/random.hpp"

namespace strata::trainer {
namespace {

constexpr double kDeviation = 0.02;

bool ends_with(const Tensor& tensor, std::string_view end) {
  return std::string_view(tensor.name).ends_with(end);
}

}  // namespace

void initialize_weights(const ParameterTable& table, std::uint64_t seed, float* weights) {
  const double residual_deviation = kDeviation / std::sqrt(2.0 * static_cast<double>(table.shape().layers));
  for (const Tensor& tensor : table.tensors()) {
    float* values = weights + tensor.offset;
    if (!tensor.is_matrix()) {
      const bool is_norm_weight =
          tensor.name.find("ln_") != std::string::npos && ends_with(tensor, ".weight");
      std::fill_n(values, tensor.count, is_norm_weight ? 1.0f : 0.0f);
      continue;
    }
    const double deviation = ends_with(tensor, ".c_proj.weight") ? residual_deviation : kDeviation;
    const RandomStream random(seed, stream_of(tensor.name));
    for (std::size_t i = 0; i < tensor.count; ++i)
      values[i] = static_cast<float>(random.normal(i) * deviation);
  }
}

}  // namespace strata::trainer
