#include "ccl/local/shm_group.hpp"

#include "ccl/base/check.hpp"
#include "ccl/base/memory_budget.hpp"

namespace strata {
namespace {

// One round of one member. Two of them and what they are copied from and to stay in a second-level cache.
constexpr std::uint64_t kSlotBytes = 128 << 10;

}  // namespace

bool ShmGroup::supports(Collective collective, bool v) {
  switch (collective) {
    case Collective::send:
    case Collective::recv: return false;
    case Collective::all_to_all: return !v;  // members do not know each other's counts
    default: return true;
  }
}

ShmGroup::ShmGroup(shm::Neighbours& neighbours, std::vector<Rank> members, int me, std::uint64_t key,
                   GroupOptions options)
    : neighbours_(neighbours),
      boards_(neighbours, std::move(members), me, key, kSlotBytes),
      reading_pays_(options.reading_pays),
      telling_pays_(options.telling_pays),
      reads_allowed_(options.reads) {
  STRATA_CHECK(boards_.size() >= 2 && boards_.size() <= kMembersMax, boards_.size());
}

ShmGroup::~ShmGroup() { MemoryBudget::of_process().give(bodies_counted_); }

// Bodies are backed by memory from their first use on.
void ShmGroup::count_bodies() {
  const std::uint64_t use = (slot_use(shape_) + shm::kPageBytes - 1) / shm::kPageBytes * shm::kPageBytes;
  if (in_line_ || use <= body_use_) return;
  body_use_ = use;
  const std::uint64_t more = use * Board::kSlots - bodies_counted_;
  if (MemoryBudget::of_process().take(more)) bodies_counted_ += more;
}

bool ShmGroup::tidy() {
  if (busy() || body_use_ * Board::kSlots <= bodies_counted_) return true;
  if (!boards_.all_consumed(next_round_)) return false;
  boards_.free_bodies();
  MemoryBudget::of_process().give(bodies_counted_);
  body_use_ = bodies_counted_ = 0;
  return true;
}

void ShmGroup::leave(shm::Neighbours& neighbours, Rank first, bool is_first, std::uint64_t key) {
  if (is_first)
    neighbours.retire(key);
  else
    neighbours.drop(first, key);
}

void ShmGroup::give_up() {
  if (busy() && boards_.is_open()) boards_.withdraw();
}

void ShmGroup::begin(const GroupCall& call) {
  STRATA_CHECK(!busy());
  call_ = call;
  shape_ = {.collective = call.collective, .size = boards_.size(), .me = boards_.me(), .root = call.root};
  Shape& s = shape_;
  const auto n = static_cast<std::uint64_t>(s.size);
  if (!call.counts.empty()) {
    begins_.assign(1, 0);
    for (const std::uint64_t count : call.counts)
      begins_.push_back(begins_.back() + count * call.element_bytes);
    s.begins = begins_;
    s.total_bytes = begins_.back();
  } else {
    const bool one = s.collective == Collective::all_reduce || s.collective == Collective::reduce ||
                     s.collective == Collective::broadcast;
    s.part_bytes = call.count_bytes;
    s.total_bytes = one ? call.count_bytes : n * call.count_bytes;
  }
  call_.counts = {};
  cut(s, kSlotBytes, kSmallBytesMax);
  rounds_ = strata::rounds(s);
  in_line_ = slot_use(s) <= Slot::kInlineBytes;
  base_ = next_round_;
  iteration_ = 0;
  boards_.begin(call.mark);
  if (boards_.is_open())
    start_rounds();
  else
    phase_ = Phase::memory;
}

void ShmGroup::start_rounds() {
  if (rounds_ == 0) {
    phase_ = Phase::wait;  // nothing to do: ends at once
    iteration_ = 1;
    return;
  }
  phase_ = telling_pays_(shape_) ? Phase::announce : Phase::put;
}

// Goes on while it costs little, so that a small call is over in one go.
ShmGroup::Progress ShmGroup::advance(bool wake) {
  const Progress progress = advance_steps();
  if (wake || progress == Progress::ended) boards_.wake_others();
  return progress;
}

ShmGroup::Progress ShmGroup::advance_steps() {
  const std::uint64_t before = iteration_;
  bool any = false;
  for (;;) {
    const bool heavy =
        phase_ == Phase::straight || (phase_ == Phase::put && !in_line_ && iteration_ > before);
    if (heavy && any) return Progress::moved;
    const Progress p = step();
    if (p == Progress::waits && boards_.mismatched()) return Progress::mismatch;
    if (p == Progress::waits && any) return Progress::moved;
    if (p != Progress::moved) return p;
    any = true;
  }
}

ShmGroup::Progress ShmGroup::step() {
  switch (phase_) {
    case Phase::idle: return Progress::waits;
    case Phase::memory: return get_memory();
    case Phase::announce: return announce();
    case Phase::agree: return agree();
    case Phase::trial: return see_trial();
    case Phase::straight: return move_straight();
    case Phase::straight_end: return end_straight();
    case Phase::put: return put();
    case Phase::wait: return wait_for_sources();
    case Phase::sum: return move();
  }
  return Progress::waits;
}

bool ShmGroup::has_news() {
  const auto see = [&](std::uint64_t round, Sources from) {
    return boards_.see(round, from, shape_.root) || boards_.mismatched();
  };
  switch (phase_) {
    case Phase::idle: return false;
    case Phase::memory: return boards_.can_open();
    case Phase::announce: return boards_.claim(base_);
    case Phase::put: return !writes() || boards_.claim(base_ + iteration_);
    case Phase::agree:
    case Phase::trial: return see(base_, Sources::everybody);
    case Phase::straight_end: return see(base_, borrowers(straight_));
    case Phase::wait:
      return rounds_ == 0 || iteration_ == 0 || see(base_ + iteration_ - 1, sources(shape_, iteration_));
    default: return true;
  }
}

ShmGroup::Progress ShmGroup::get_memory() {
  const Expected<bool> opened = boards_.open();
  if (!opened) {
    failure_ = opened.status();
    return Progress::failed;
  }
  if (!*opened) return Progress::waits;
  start_rounds();
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::end(std::uint64_t next_round) {
  next_round_ = next_round;
  phase_ = Phase::idle;
  return Progress::ended;
}

}  // namespace strata
