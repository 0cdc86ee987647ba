// The memory that calls work on: an input, an output and the input's master copy, between guards.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace strata::perf {

// Page-aligned, touched when made, with guards before and after that must stay as they are.
// shared: by strata::allocate(), so that the other ranks of this host can work on it.
class GuardedMemory final {
 public:
  GuardedMemory(std::uint64_t bytes, bool shared);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  bool guards_intact() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
    bool shared;
  };
  std::uint64_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  std::byte* data_;
};

// Brings every cache line of the range to this CPU, as a program that uses a result would.
void read_all(std::span<const std::byte> range);

}  // namespace strata::perf
