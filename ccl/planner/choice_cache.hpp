// Choices made before: a table of single words, so that any thread may look and any may write.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace strata {

// What is kept is a pure function of its key, so it does not matter which of two writers wins, nor that keys
// with the same place drive each other out.
class ChoiceCache final {
 public:
  static constexpr std::size_t kPlaces = 1024;
  static constexpr int kValueBits = 8;  // the key has the other bits

  std::optional<std::uint8_t> find(std::uint64_t key) const {
    const std::uint64_t word = words_[place(key)].load(std::memory_order_relaxed);
    if (word >> kValueBits != key + 1) return {};
    return static_cast<std::uint8_t>(word);
  }
  void insert(std::uint64_t key, std::uint8_t value) {
    words_[place(key)].store((key + 1) << kValueBits | value, std::memory_order_relaxed);
  }

 private:
  static std::size_t place(std::uint64_t key) { return key * 0x9e3779b97f4a7c15u >> 54; }
  static_assert(kPlaces == 1u << (64 - 54));

  std::array<std::atomic<std::uint64_t>, kPlaces> words_{};  // 0: nothing
};

}  // namespace strata
