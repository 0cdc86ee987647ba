// How many threads a test may give a device.
#pragma once

namespace strata::trainer {

// The thread sanitizer does not see how OpenMP's threads wait for each other, and would call their work a
// race.
inline int threads_at_most(int wanted) {
#if defined(__SANITIZE_THREAD__)
  return wanted > 1 ? 1 : wanted;
#else
  return wanted;
#endif
}

}  // namespace strata::trainer
