// Processes that work on one thing together, each bound to a core, with memory that all can reach.
#pragma once
#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/compare/memory.hpp"

namespace strata::compare {

inline constexpr std::size_t kWorkersMax = 16;
inline constexpr std::size_t kNumbersMax = 1024;

// Apart by two cache lines: the CPU fetches them in pairs.
struct alignas(128) Counter {
  std::atomic<std::uint64_t> value{0};
};

// What they share; an array holds one entry for each worker.
struct Board {
  std::array<Counter, kWorkersMax> barrier, put, taken;
  std::array<std::atomic<int>, kWorkersMax> ports{}, processes{};
  std::array<std::atomic<float*>, kWorkersMax> memory{};
  std::array<std::array<double, kNumbersMax>, kWorkersMax> numbers;
};

enum class Placement { a_core_each, one_core };

// Polls until the counter has reached the value; yields at times, in case both are on one core.
void wait_for(const Counter& counter, std::uint64_t value);

class Team final {
 public:
  // Forks size - 1 workers; 1 <= size <= kWorkersMax. Before: map what is to be shared. They die with the
  // first.
  explicit Team(int size, Placement placement = Placement::a_core_each);
  // The others end here; the first waits for them, and may use all cores again.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int next() const { return (rank_ + 1) % size_; }
  int previous() const { return (rank_ + size_ - 1) % size_; }
  Board& board() { return *board_; }

  void barrier();
  void slowest(std::span<double> numbers);  // each becomes the largest of all workers'

 private:
  Memory memory_;
  Board* board_;
  cpu_set_t allowed_;
  std::vector<int> children_;
  int size_, rank_ = 0;
  std::uint64_t barriers_ = 0;
};

}  // namespace strata::compare
