#include "ccl/local/allocation.hpp"

#include <atomic>

#include "ccl/shm/memory_file.hpp"
#include "ccl/shm/neighbours.hpp"
#include "ccl/shm/words.hpp"

namespace strata {

Allocations& Allocations::of_process() {
  static Allocations* const all =
      new Allocations;  // never destroyed: memory may be freed by late destructors
  return *all;
}

Expected<void*> Allocations::allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + shm::kPageBytes - 1) / shm::kPageBytes * shm::kPageBytes;
  if (bytes == 0 || whole < bytes)
    return Status(ErrorCode::invalid_argument, bytes == 0 ? "allocate: bytes = 0; ask for at least 1"
                                                          : "allocate: bytes = " + std::to_string(bytes) +
                                                                " is more than can be addressed");
  Expected<Fd> file = shm::make_memory_file(whole);
  if (!file) return file.status();
  Expected<shm::Mapping> memory = shm::map(*file, 0, whole);
  if (!memory) return memory.status();
  void* const at = memory->get();
  const std::unique_lock lock(mutex_);
  auto allocation = std::make_shared<const Allocation>(
      Allocation{shm::kMemoryKey | next_key_++, std::move(*file), std::move(*memory), whole});
  by_address_.emplace(reinterpret_cast<std::uintptr_t>(at), std::move(allocation));
  return at;
}

bool Allocations::deallocate(void* memory) {
  const std::unique_lock lock(mutex_);
  const auto found = by_address_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == by_address_.end()) return false;
  freed_.push_back(found->second->key);
  by_address_.erase(found);
  freed_count_.store(freed_.size(), std::memory_order_release);
  return true;
}

std::optional<Allocations::Place> Allocations::find(const void* at, std::uint64_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const std::shared_lock lock(mutex_);
  auto found = by_address_.upper_bound(address);
  if (found == by_address_.begin()) return std::nullopt;
  --found;
  const std::uint64_t offset = address - found->first;
  if (offset > found->second->bytes || bytes > found->second->bytes - offset) return std::nullopt;
  return Place{found->second, offset};
}

std::vector<std::uint64_t> Allocations::freed_since(std::uint64_t seen) const {
  const std::shared_lock lock(mutex_);
  return {freed_.begin() + static_cast<std::ptrdiff_t>(seen), freed_.end()};
}

}  // namespace strata
