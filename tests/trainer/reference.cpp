// Plain double precision layers.
#include "tests/trainer/reference.hpp"

#include <algorithm>
#include <cmath>

namespace strata::trainer::reference {

Doubles layer_norm(const Doubles& x, const Doubles& weight, const Doubles& bias, std::size_t width) {
  Doubles out(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < width; ++i) mean += x[row + i] / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
      variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
      out[row + i] = (x[row + i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
  }
  return out;
}

Doubles gelu(const Doubles& x) {
  Doubles out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    out[i] = 0.5 * x[i] * (1 + std::tanh(std::sqrt(2 / M_PI) * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
  return out;
}

Doubles attention(const Doubles& qkv, const AttentionSize& size) {
  const std::size_t width = size.heads * size.head_width;
  Doubles out(size.sequences * size.sequence * width, 0);
  for (std::size_t s = 0; s < size.sequences; ++s) {
    for (std::size_t h = 0; h < size.heads; ++h) {
      for (std::size_t t = 0; t < size.sequence; ++t) {
        const auto row = [&](std::size_t at) {
          return &qkv[(s * size.sequence + at) * 3 * width + h * size.head_width];
        };
        Doubles weights(t + 1);
        double total = 0;
        for (std::size_t u = 0; u <= t; ++u) {
          double score = 0;
          for (std::size_t d = 0; d < size.head_width; ++d) score += row(t)[d] * row(u)[width + d];
          total += weights[u] = std::exp(score / std::sqrt(static_cast<double>(size.head_width)));
        }
        double* to = &out[(s * size.sequence + t) * width + h * size.head_width];
        for (std::size_t u = 0; u <= t; ++u)
          for (std::size_t d = 0; d < size.head_width; ++d)
            to[d] += weights[u] / total * row(u)[2 * width + d];
      }
    }
  }
  return out;
}

double cross_entropy(const Doubles& logits, const std::vector<std::int32_t>& targets,
                     std::size_t vocabulary) {
  double sum = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const double* x = &logits[row * vocabulary];
    const double top = *std::max_element(x, x + vocabulary);
    double total = 0;
    for (std::size_t i = 0; i < vocabulary; ++i) total += std::exp(x[i] - top);
    sum += std::log(total) + top - x[targets[row]];
  }
  return sum;
}

Doubles product(const Doubles& a, const Doubles& b, std::size_t rows, std::size_t columns,
                std::size_t depth) {
  Doubles c(rows * columns, 0);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t p = 0; p < depth; ++p)
      for (std::size_t j = 0; j < columns; ++j) c[i * columns + j] += a[i * depth + p] * b[p * columns + j];
  return c;
}

Doubles gradient(const std::function<double(const Doubles&)>& f, Doubles x) {
  constexpr double kStep = 1e-5;
  Doubles slopes(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double here = x[i];
    x[i] = here + kStep;
    const double above = f(x);
    x[i] = here - kStep;
    slopes[i] = (above - f(x)) / (2 * kStep);
    x[i] = here;
  }
  return slopes;
}

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Doubles widen(const FloatList& x) { return {x.begin(), x.end()}; }

FloatList random_floats(std::size_t count, std::mt19937& random, float deviation) {
  std::normal_distribution<float> normal(0, deviation);
  FloatList values(count);
  for (float& value : values) value = normal(random);
  return values;
}

double relative_error(const FloatList& a, const Doubles& b, double floor) {
  if (a.size() != b.size()) return 1e300;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    size += b[i] * b[i];
  }
  const double error = std::sqrt(difference) / std::max(std::sqrt(size), floor);
  return std::isnan(error) ? 1e300 : error;
}

}  // namespace strata::trainer::reference
