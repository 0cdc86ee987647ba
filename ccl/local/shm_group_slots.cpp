// A group's call through its slots, as moves.hpp has it.
#include <cstring>

#include "ccl/local/shm_group.hpp"

namespace strata {

ShmGroup::Progress ShmGroup::put() {
  const Shape& s = shape_;
  if (iteration_ == 0) count_bodies();
  if (writes()) {
    const std::uint64_t round = base_ + iteration_;
    if (!boards_.claim(round)) return Progress::waits;
    std::byte* const mine = slot(s.me, round);
    visit_puts(s, iteration_,
               [&](const Put& p) { std::memcpy(mine + p.slot, call_.input + p.input, p.length); });
    if (!sums_into_slot(s, iteration_)) boards_.publish(round);
  }
  phase_ = Phase::wait;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::wait_for_sources() {
  if (rounds_ == 0) return end(base_);
  if (iteration_ > 0 && !boards_.see(base_ + iteration_ - 1, sources(shape_, iteration_), shape_.root))
    return Progress::waits;
  phase_ = Phase::sum;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::move() {
  const Shape& s = shape_;
  if (iteration_ > 0) {
    const std::uint64_t read = base_ + iteration_ - 1;
    visit_sums(s, iteration_, [&](const Sum& m) { sum(m, read); });
    if (sums_into_slot(s, iteration_)) boards_.publish(base_ + iteration_);
    visit_gets(s, iteration_, [&](const Get& g) {
      std::memcpy(call_.output + g.output, slot(g.peer, read) + g.slot, g.length);
    });
    boards_.consume(read + 1);
  } else {
    visit_keeps(s, [&](const Keep& k) {
      if (call_.output + k.output != call_.input + k.input)
        std::memcpy(call_.output + k.output, call_.input + k.input, k.length);
    });
  }
  return next_iteration();
}

ShmGroup::Progress ShmGroup::next_iteration() {
  if (iteration_ == rounds_) return end(base_ + rounds_);
  ++iteration_;
  phase_ = Phase::put;
  return Progress::moved;
}

void ShmGroup::sum(const Sum& m, std::uint64_t round) {
  const Shape& s = shape_;
  parts_.clear();
  for (int i = 0; i < s.size; ++i)
    parts_.push_back(i == s.me ? call_.input + m.input : slot(i, round) + m.slot);
  std::byte* const into = m.to_output ? call_.output + m.output : slot(s.me, round + 1) + m.into_slot;
  call_.reduce(into, parts_.data(), parts_.size(), m.length / call_.element_bytes, true, call_.scale);
  if (m.to_output && m.to_slot) std::memcpy(slot(s.me, round + 1) + m.into_slot, into, m.length);
}

}  // namespace strata
