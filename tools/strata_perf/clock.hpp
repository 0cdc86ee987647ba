// The clock that all times are taken from.
#pragma once
#include <chrono>

namespace strata::perf {

inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

}  // namespace strata::perf
