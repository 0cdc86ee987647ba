// Memory that peers on this host can map: what strata::allocate() gives, and how a group finds out that a
// buffer lies in it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/shm/mapping.hpp"
#include "strata/status.hpp"

namespace strata {

// Of this process. Any thread.
class Allocations final {
 public:
  static Allocations& of_process();

  Expected<void*> allocate(std::size_t bytes);
  // false: not the beginning of an allocation.
  bool deallocate(void* memory);

  struct Allocation {
    std::uint64_t key;  // unique in this process for all time
    Fd file;
    shm::Mapping memory;
    std::uint64_t bytes;  // whole pages
  };
  struct Place {
    std::shared_ptr<const Allocation> allocation;
    std::uint64_t offset;
  };
  // The allocation that holds all of [at, at + bytes).
  std::optional<Place> find(const void* at, std::uint64_t bytes) const;

  // Keys of what has been freed, in order; [seen, end) for one who has seen the first `seen`.
  std::uint64_t freed() const { return freed_count_.load(std::memory_order_acquire); }
  std::vector<std::uint64_t> freed_since(std::uint64_t seen) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<const Allocation>> by_address_;
  std::vector<std::uint64_t> freed_;
  std::atomic<std::uint64_t> freed_count_{0};
  std::uint64_t next_key_ = 0;
};

}  // namespace strata
