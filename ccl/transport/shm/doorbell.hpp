// Wakes the sleeping owner of a segment.
//
// Why no wake-up is lost. All four accesses below are sequentially consistent, so they have one total order:
//   the sleeper:  (1) sleeping = 1           (2) looks at each index that may bring news; none: sleeps on the
//   eventfd the other:    (3) index = new value      (4) looks at sleeping; 1: takes it back to 0 and writes
//   the eventfd
// If (3) comes before (2), the sleeper sees the news and does not sleep. Otherwise (1) < (2) < (3) < (4), so
// (4) sees the 1, unless somebody took it since (1): the sleeper itself, who then looks at all indices again
// before the next sleep; or another peer, who writes the eventfd right after taking, or dies between, and
// then its death wakes the sleeper. The eventfd keeps its count until it is read, and that is done by the
// sleeper only, after it has woken.
#pragma once
#include <atomic>

#include "ccl/transport/shm/segment_layout.hpp"

namespace strata::shm {

struct Doorbell {
  std::atomic<std::uint32_t>* sleeping = nullptr;
  int event_fd = -1;

  // Call after a sequentially consistent store to an index that the owner looks at before it sleeps.
  bool owner_sleeps() const { return sleeping->load(std::memory_order_seq_cst) != 0; }
  void ring() const;
};

}  // namespace strata::shm
