#include "bench/compare/team.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace strata::compare {
namespace {

constexpr int kSpinsBeforeYield = 1'000;

// With fewer cores than workers, some share one.
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

Team::Team(int size, Placement placement)
    : memory_(map_memory(sizeof(Board) / sizeof(float), MAP_SHARED)), size_(size) {
  board_ = new (memory_.get()) Board;
  ::sched_getaffinity(0, sizeof allowed_, &allowed_);
  for (int rank = 1; rank < size && rank_ == 0; ++rank) {
    const int child = ::fork();
    if (child < 0) {
      std::perror("fork");
      std::exit(3);
    }
    if (child == 0)
      rank_ = rank;
    else
      children_.push_back(child);
  }
  if (rank_ != 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  bind_to_core(allowed_, placement == Placement::one_core ? 0 : rank_);
  barrier();
}

Team::~Team() {
  if (rank_ != 0) ::_exit(0);
  for (int child : children_) ::waitpid(child, nullptr, 0);
  ::sched_setaffinity(0, sizeof allowed_, &allowed_);
}

void Team::barrier() {
  ++barriers_;
  board_->barrier[static_cast<std::size_t>(rank_)].value.store(barriers_, std::memory_order_release);
  for (std::size_t other = 0; other < static_cast<std::size_t>(size_); ++other)
    wait_for(board_->barrier[other], barriers_);
}

void Team::slowest(std::span<double> numbers) {
  const auto mine = static_cast<std::size_t>(rank_);
  std::copy(numbers.begin(), numbers.end(), board_->numbers[mine].begin());
  barrier();
  for (std::size_t other = 0; other < static_cast<std::size_t>(size_); ++other)
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::max(numbers[i], board_->numbers[other][i]);
  barrier();
}

}  // namespace strata::compare
