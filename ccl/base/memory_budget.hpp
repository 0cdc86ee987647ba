// How much memory this process keeps for reuse between operations, over all communicators.
#pragma once
#include <atomic>
#include <cstdint>

namespace strata {

// What does not fit is given back to the system when its operation has ended. Any thread.
class MemoryBudget final {
 public:
  static constexpr std::uint64_t kDefaultBytes = 64 << 20;

  static MemoryBudget& of_process();

  void set_limit(std::uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  // false: it would be more than the limit, and nothing is counted.
  bool take(std::uint64_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit()) return true;
    give(bytes);
    return false;
  }
  void give(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> limit_{kDefaultBytes}, used_{0};
};

inline MemoryBudget& MemoryBudget::of_process() {
  static MemoryBudget budget;
  return budget;
}

}  // namespace strata
