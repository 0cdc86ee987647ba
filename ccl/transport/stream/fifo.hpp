// A queue that allocates only when it holds more than it ever did.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ccl/base/check.hpp"

namespace strata::stream {

template <class T>
class Fifo final {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const T& front() const { return slots_[head_]; }

  void push(const T& value) {
    if (count_ == slots_.size()) grow();
    slots_[index(count_++)] = value;
  }
  T pop() {
    STRATA_CHECK(count_ > 0);
    T value = slots_[head_];
    head_ = index(1);
    --count_;
    return value;
  }
  void clear() { count_ = 0; }
  template <class Predicate>
  void erase_if(Predicate drop) {
    for (std::size_t left = count_; left > 0; --left) {
      const T value = pop();
      if (!drop(value)) push(value);
    }
  }

 private:
  std::size_t index(std::size_t i) const { return (head_ + i) & (slots_.size() - 1); }
  void grow() {
    std::rotate(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(head_), slots_.end());
    head_ = 0;
    slots_.resize(std::max<std::size_t>(64, 2 * slots_.size()));  // a power of two
  }

  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace strata::stream
