// The limits within memory: work of each core by itself, data passed between cores, and how fast a word is.
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench/compare/limits.hpp"
#include "bench/compare/limits_kernels.hpp"

namespace strata::compare {

void Primitive::take_buffers(std::uint64_t bytes) {
  count_ = bytes / sizeof(float);
  from_ = map_memory(count_, MAP_PRIVATE), into_ = map_memory(count_, MAP_PRIVATE);
  for (std::uint64_t i = 0; i < count_; ++i) from_.get()[i] = value_at(rank(), i);
}

float Primitive::value_at(int rank, std::uint64_t index) const {
  return static_cast<float>(rank + 1 + static_cast<int>(index % 7));
}

bool Primitive::holds_what_was_from(int rank) const {
  for (std::uint64_t i = 0; i < count_; ++i)
    if (into_.get()[i] != value_at(rank, i)) return false;
  return true;
}

void Work::prepare(std::uint64_t bytes) {
  take_buffers(bytes);
  again_ = map_memory(kind_ == kAdd ? count_ : 0, MAP_PRIVATE);  // zeros
}

void Work::call(int) {
  float* into = into_.get();
  if (kind_ == kCopy)
    (streaming_ ? stream_copy : copy)(into, from_.get(), count_);
  else
    (streaming_ ? stream_add : add)(into, from_.get(), again_.get(), count_);
}

bool Work::is_right() const { return holds_what_was_from(rank()); }

float* Pass::slot(int rank, std::uint64_t piece) const {
  return slots_.get() + (static_cast<std::uint64_t>(rank) * kSlots + piece % kSlots) * piece_count_;
}

std::uint64_t Pass::length_of(std::uint64_t piece) const {
  return std::min(piece_count_, count_ - piece * piece_count_);
}

// A piece is put before the last one is taken, so that who waits has something to do meanwhile.
void Pass::call(int) {
  Board& board = team_.board();
  const auto me = static_cast<std::size_t>(rank()), next = static_cast<std::size_t>(team_.next());
  const std::uint64_t pieces = (count_ + piece_count_ - 1) / piece_count_;
  for (std::uint64_t i = 0; i <= pieces; ++i) {
    if (i < pieces) {
      const std::uint64_t number = done_ + i;
      if (number >= kSlots)
        wait_for(board.taken[static_cast<std::size_t>(team_.previous())], number - kSlots + 1);
      copy(slot(rank(), number), from_.get() + i * piece_count_, length_of(i));
      board.put[me].value.store(number + 1, std::memory_order_release);
    }
    if (i > 0) {
      const std::uint64_t number = done_ + i - 1;
      wait_for(board.put[next], number + 1);
      copy(into_.get() + (i - 1) * piece_count_, slot(team_.next(), number), length_of(i - 1));
      board.taken[me].value.store(number + 1, std::memory_order_release);
    }
  }
  done_ += pieces;
}

void Pull::prepare(std::uint64_t bytes) {
  take_buffers(bytes);
  const auto me = static_cast<std::size_t>(rank());
  team_.board().processes[me] = ::getpid();
  team_.board().memory[me] = from_.get();
  barrier();
}

bool Pull::is_allowed() {
  call(0);
  double refused = is_right() ? 0 : 1;
  slowest({&refused, 1});
  return refused == 0;
}

void Pull::call(int) {
  const Board& board = team_.board();
  const auto next = static_cast<std::size_t>(team_.next());
  auto* into = reinterpret_cast<std::byte*>(into_.get());
  auto* from = reinterpret_cast<std::byte*>(board.memory[next].load());
  for (std::uint64_t bytes = count_ * sizeof(float), done = 0; done < bytes;) {
    const iovec here{into + done, bytes - done}, there{from + done, bytes - done};
    const ssize_t moved = ::process_vm_readv(board.processes[next], &here, 1, &there, 1, 0);
    if (moved <= 0) return;
    done += static_cast<std::uint64_t>(moved);
  }
}

void Hop::wait(const Counter& counter) const {
  if (!yielding_) return wait_for(counter, value_);
  while (counter.value.load(std::memory_order_acquire) < value_) ::sched_yield();
}

void Hop::call(int) {
  Board& board = team_.board();
  ++value_;
  if (rank() > 1) return;
  if (rank() == 1) wait(board.put[0]);
  board.put[static_cast<std::size_t>(rank())].value.store(value_, std::memory_order_release);
  if (rank() == 0) wait(board.put[1]);
}

}  // namespace strata::compare
