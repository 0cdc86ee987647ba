// A bounded queue between many producers and one or more consumers, without locks (D. Vyukov's array of
// sequenced cells).
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "ccl/base/check.hpp"

namespace strata {

template <class T>
class BoundedQueue final {
 public:
  explicit BoundedQueue(std::size_t capacity)
      : mask_(capacity - 1), cells_(std::make_unique<Cell[]>(capacity)) {
    STRATA_CHECK(std::has_single_bit(capacity), capacity);
    for (std::size_t i = 0; i < capacity; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  }
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  // false: full, and `value` is untouched.
  bool try_push(T& value) {
    std::size_t at = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at & mask_];
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence == at) {
        if (!tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        cell.value = std::move(value);
        cell.sequence.store(at + 1, std::memory_order_release);
        return true;
      }
      if (sequence < at) return false;
      at = tail_.load(std::memory_order_relaxed);
    }
  }

  bool try_pop(T& value) {
    std::size_t at = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at & mask_];
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence == at + 1) {
        if (!head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        value = std::move(cell.value);
        cell.sequence.store(at + mask_ + 1, std::memory_order_release);
        return true;
      }
      if (sequence < at + 1) return false;
      at = head_.load(std::memory_order_relaxed);
    }
  }

  // May be out of date by the time it returns.
  bool empty() const {
    const std::size_t at = head_.load(std::memory_order_relaxed);
    return cells_[at & mask_].sequence.load(std::memory_order_acquire) != at + 1;
  }

 private:
  struct Cell {
    std::atomic<std::size_t> sequence;
    T value;
  };
  const std::size_t mask_;
  const std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace strata
