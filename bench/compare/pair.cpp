#include "bench/compare/pair.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace strata::compare {
namespace {

constexpr int kSpinsBeforeYield = 100'000;

// With one core, both processes share it.
void bind_to_core(const cpu_set_t& allowed, int index) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  int left = index % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed) && left-- == 0) CPU_SET(core, &mine);
  ::sched_setaffinity(0, sizeof mine, &mine);
}

}  // namespace

void wait_for(const Counter& counter, std::uint64_t value) {
  for (int spins = 1; counter.value.load(std::memory_order_acquire) < value; ++spins) {
    __builtin_ia32_pause();
    if (spins % kSpinsBeforeYield == 0) ::sched_yield();
  }
}

Pair::Pair() : memory_(map_memory(sizeof(Board) / sizeof(float), MAP_SHARED)) {
  board_ = new (memory_.get()) Board;
  ::sched_getaffinity(0, sizeof allowed_, &allowed_);
  child_ = ::fork();
  if (child_ < 0) {
    std::perror("fork");
    std::exit(3);
  }
  rank_ = child_ == 0 ? 1 : 0;
  if (rank_ == 1) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  bind_to_core(allowed_, rank_);
  barrier();
}

Pair::~Pair() {
  if (rank_ == 1) ::_exit(0);
  ::waitpid(child_, nullptr, 0);
  ::sched_setaffinity(0, sizeof allowed_, &allowed_);
}

void Pair::barrier() {
  ++barriers_;
  board_->barrier[static_cast<std::size_t>(rank_)].value.store(barriers_, std::memory_order_release);
  wait_for(board_->barrier[static_cast<std::size_t>(other())], barriers_);
}

void Pair::slowest(std::span<double> numbers) {
  const auto mine = static_cast<std::size_t>(rank_), theirs = static_cast<std::size_t>(other());
  std::copy(numbers.begin(), numbers.end(), board_->numbers[mine].begin());
  barrier();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = std::max(numbers[i], board_->numbers[theirs][i]);
  barrier();
}

}  // namespace strata::compare
