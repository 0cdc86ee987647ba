// The layers once more in double precision and as plainly as they can be said, to judge the kernels by.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace strata::trainer::reference {

using Doubles = std::vector<double>;
using FloatList = std::vector<float>;

// [rows, width] each; the loss that gives the backward something to follow is the dot product with
// `grad_out`.
Doubles layer_norm(const Doubles& x, const Doubles& weight, const Doubles& bias, std::size_t width);
Doubles gelu(const Doubles& x);
// qkv [sequences * sequence, 3 * heads * head_width].
struct AttentionSize {
  std::size_t sequences, sequence, heads, head_width;
};
Doubles attention(const Doubles& qkv, const AttentionSize& size);
double cross_entropy(const Doubles& logits, const std::vector<std::int32_t>& targets, std::size_t vocabulary);
Doubles product(const Doubles& a, const Doubles& b, std::size_t rows, std::size_t columns, std::size_t depth);

// d f / d x by central differences.
Doubles gradient(const std::function<double(const Doubles&)>& f, Doubles x);
double dot(const Doubles& a, const Doubles& b);

Doubles widen(const FloatList& x);
FloatList random_floats(std::size_t count, std::mt19937& random, float deviation = 1.0f);

// |a - b| / max(|b|, floor), as vectors: 0 if they agree.
double relative_error(const FloatList& a, const Doubles& b, double floor = 1e-6);

}  // namespace strata::trainer::reference
