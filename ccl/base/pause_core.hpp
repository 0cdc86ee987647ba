// Tells the core that it is in a loop that waits for memory to change.
#pragma once

namespace strata {

inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace strata
