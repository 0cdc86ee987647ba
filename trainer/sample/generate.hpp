// Text from a model, token by token.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trainer/model/gpt.hpp"

namespace strata::trainer {

struct SampleOptions {
  double temperature = 0.8;  // 0: always the likeliest
  std::size_t top_k = 0;     // 0: from all tokens
  std::uint64_t seed = 1;
  std::size_t tokens = 240;
};

// The index that a draw picks. `uniform` in (0, 1); `logits` has `count` values.
std::size_t pick(const float* logits, std::size_t count, const SampleOptions& options, double uniform);

// Calls emit(byte) for each new token. The model sees the last shape().sequence tokens.
void generate(Gpt& gpt, std::string_view prompt, const SampleOptions& options,
              const std::function<void(char)>& emit);

}  // namespace strata::trainer
