// Draws from the softmax of the logits, sharpened by temperature and cut off at the k likeliest.
#include "trainer/sample/generate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "trainer/data/random.hpp"

namespace strata::trainer {

std::size_t pick(const float* logits, std::size_t count, const SampleOptions& options, double uniform) {
  if (options.temperature <= 0)
    return static_cast<std::size_t>(std::max_element(logits, logits + count) - logits);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t kept = options.top_k > 0 ? std::min(options.top_k, count) : count;
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [&](std::size_t a, std::size_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  std::vector<double> weights(kept);
  double total = 0;
  for (std::size_t i = 0; i < kept; ++i)
    total += weights[i] =
        std::exp(static_cast<double>(logits[order[i]] - logits[order[0]]) / options.temperature);
  double left = uniform * total;
  for (std::size_t i = 0; i + 1 < kept; ++i)
    if ((left -= weights[i]) < 0) return order[i];
  return order[kept - 1];
}

void generate(Gpt& gpt, std::string_view prompt, const SampleOptions& options,
              const std::function<void(char)>& emit) {
  const std::size_t sequence = gpt.table().shape().sequence;
  // The model knows no text without a token before it.
  std::vector<std::int32_t> tokens;
  for (const char c : prompt.empty() ? std::string_view("\n") : prompt)
    tokens.push_back(static_cast<unsigned char>(c));
  const RandomStream random(options.seed, stream_of("sample"));
  for (std::size_t i = 0; i < options.tokens; ++i) {
    const std::size_t seen = std::min(tokens.size(), sequence);
    const float* logits = gpt.next_logits(tokens.data() + tokens.size() - seen, seen);
    // Tokens beyond the bytes, if the model has any, are no text.
    const std::size_t bytes = std::min<std::size_t>(256, gpt.table().shape().vocabulary);
    const std::size_t next = pick(logits, bytes, options, random.uniform(i));
    tokens.push_back(static_cast<std::int32_t>(next));
    emit(static_cast<char>(next));
  }
}

}  // namespace strata::trainer
