// Wakes the sleeping owner of a segment.
//
// Why no wake-up is lost. Each side stores, has a sequentially consistent fence, and loads what the other
// stores:
//   the sleeper:  (1) sleeping = 1          fence  (2) looks at each index that may bring news; none: sleeps
//   the other:    (3) index = new value     fence  (4) looks at sleeping; 1: takes it back to 0 and writes
//   the eventfd
// The fences have an order. If the other's comes first, (2) sees what (3) stored, and the sleeper does not
// sleep. Otherwise (4) sees the 1 of (1), unless somebody has taken it since: the sleeper itself, who then
// looks at all indices again before its next sleep; or another peer, who writes the eventfd right after
// taking, or dies between, and then its death wakes the sleeper. The eventfd keeps its count until it is
// read, which only the sleeper does, after it has woken. (A store and a fence rather than an exchange: the
// store can leave while earlier ones are still under way.)
#pragma once
#include <atomic>
#include <cstdint>

namespace strata::shm {

struct Doorbell {
  std::atomic<std::uint32_t>* sleeping = nullptr;
  int event_fd = -1;

  // Call after a store to an index that the owner looks at before it sleeps. If it sleeps, what it wrote
  // before it said so is seen.
  bool owner_sleeps() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return sleeping->load(std::memory_order_acquire) != 0;
  }
  void ring() const;
};

}  // namespace strata::shm
