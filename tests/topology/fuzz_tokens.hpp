// Text of a format from a fuzzer's bytes: words of the format and, in between, any characters.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace strata::topology::test {

// A byte below the number of words is that word, any other one stands for itself, or for the one after it if
// it is 255. The first byte says how: 0 means that the rest is the text.
inline std::string text_of_tokens(std::span<const std::uint8_t> bytes,
                                  std::span<const std::string_view> words) {
  if (bytes.empty()) return {};
  const bool plain = bytes[0] == 0;
  std::string text;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (plain || bytes[i] >= words.size())
      text += static_cast<char>(bytes[i] == 255 && i + 1 < bytes.size() ? bytes[++i] : bytes[i]);
    else
      text += words[bytes[i]];
  }
  return text;
}

}  // namespace strata::topology::test
