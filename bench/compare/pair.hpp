// Two processes, one on each of two cores, with memory that both can reach.
#pragma once
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/compare/memory.hpp"

namespace strata::compare {

inline constexpr std::size_t kMailBytesMax = 64 << 10;
inline constexpr std::size_t kNumbersMax = 1024;

// Apart by two cache lines: the CPU fetches them in pairs.
struct alignas(128) Counter {
  std::atomic<std::uint64_t> value{0};
};

// What the two share; an array of two holds one entry for each process.
struct Board {
  std::array<Counter, 2> barrier, arrived, reduced, taken;
  std::atomic<int> port{0};
  std::array<std::array<double, kNumbersMax>, 2> numbers;
  alignas(128) std::array<std::array<std::array<std::byte, kMailBytesMax>, 2>, 2> mail;  // [parity][rank]
};

// Polls until the counter has reached the value; yields at times, in case both are on one core.
void wait_for(const Counter& counter, std::uint64_t value);

class Pair final {
 public:
  // Forks, and binds each to a core. Before: map what is to be shared. The second process dies with the
  // first.
  Pair();
  // The second process ends here; the first waits for it, and may use all cores again.
  ~Pair();
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  int rank() const { return rank_; }
  int size() const { return 2; }
  int other() const { return 1 - rank_; }
  Board& board() { return *board_; }

  void barrier();
  void slowest(std::span<double> numbers);  // each becomes the larger of the two processes'

 private:
  Memory memory_;
  Board* board_;
  cpu_set_t allowed_;
  int child_ = 0;
  int rank_ = 0;
  std::uint64_t barriers_ = 0;
};

}  // namespace strata::compare
