#include "ccl/local/shm_group.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cstring>

#include "ccl/base/check.hpp"
#include "ccl/base/memory_budget.hpp"
#include "ccl/shm/memory_file.hpp"

namespace strata {
namespace {

// One round of one member. Two of them and what they are copied from and to stay in a second-level cache.
constexpr std::uint64_t kSlotBytes = 128 << 10;
std::uint64_t everyone(std::size_t members) {
  return members == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << members) - 1;
}

}  // namespace

bool ShmGroup::supports(Collective collective, bool v) {
  switch (collective) {
    case Collective::send:
    case Collective::recv: return false;
    case Collective::all_to_all: return !v;  // members do not know each other's counts
    default: return true;
  }
}

ShmGroup::ShmGroup(shm::Neighbours& neighbours, std::vector<Rank> members, int me, std::uint64_t key)
    : neighbours_(neighbours), members_(std::move(members)), me_(me), key_(key) {
  STRATA_CHECK(members_.size() >= 2 && members_.size() <= kMembersMax, members_.size());
  layout_ = {static_cast<int>(members_.size()), kSlotBytes};
  consumed_by_.assign(members_.size(), 0);
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (static_cast<int>(i) != me_) bells_.push_back(neighbours_.bell(members_[i]));
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
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (static_cast<int>(i) != me_ &&
        board(static_cast<int>(i)).consumed.load(std::memory_order_acquire) < next_round_)
      return false;
  ::madvise(memory_ + layout_.body_offset(me_, 0), Board::kSlots * layout_.slot_bytes, MADV_REMOVE);
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

// The first member makes the memory; the others find it when it has arrived.
ShmGroup::Progress ShmGroup::get_memory() {
  if (me_ == 0) {
    Expected<Fd> file = shm::make_memory_file(layout_.bytes());
    Expected<shm::Mapping> memory = file ? shm::map(*file, 0, layout_.bytes()) : file.status();
    if (!memory) {
      failure_ = memory.status();
      return Progress::failed;
    }
    region_ = std::make_shared<const shm::Region>(shm::Region{std::move(*memory), layout_.bytes()});
    memory_ = region_->memory.get();
    for (std::size_t i = 1; i < members_.size(); ++i)
      neighbours_.share(members_[i], key_, *file, layout_.bytes());
    return Progress::moved;
  }
  const auto region = neighbours_.take(members_[0], key_);
  if (!region) {
    failure_ = region.status();
    return Progress::failed;
  }
  whom_ = 0;
  if (*region == nullptr) return Progress::waits;
  if ((*region)->length != layout_.bytes()) {
    failure_ = {ErrorCode::internal,
                fmt::format("the group's memory has {} bytes, not {}: do all ranks run the same version?",
                            (*region)->length, layout_.bytes())};
    return Progress::failed;
  }
  region_ = *region;
  memory_ = region_->memory.get();
  return Progress::moved;
}

void ShmGroup::begin(const GroupCall& call) {
  STRATA_CHECK(!busy());
  call_ = call;
  shape_ = {.collective = call.collective, .size = layout_.members, .me = me_, .root = call.root};
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
  count_bodies();
  base_ = next_round_;
  iteration_ = 0;
  sources_seen_ = 0;
  whom_ = -1;
  direct_.resize(s.size);
  if (memory_ == nullptr)
    phase_ = Phase::memory;
  else
    start_rounds();
}

void ShmGroup::start_rounds() {
  if (rounds_ == 0) {
    phase_ = Phase::wait;  // nothing to do: ends at once
    iteration_ = 1;
    return;
  }
  phase_ = shape_.total_bytes >= kDirectBytesMin ? Phase::announce : Phase::put;
}

// Goes on while it costs little, so that a small call is over in one go.
ShmGroup::Progress ShmGroup::advance(bool wake) {
  const Progress progress = advance_steps();
  if (news_for_others_ && (wake || progress == Progress::ended)) wake_others();
  return progress;
}

ShmGroup::Progress ShmGroup::advance_steps() {
  const std::uint64_t before = iteration_;
  bool any = false;
  for (;;) {
    const bool heavy = phase_ == Phase::direct || (phase_ == Phase::put && !in_line_ && iteration_ > before);
    if (heavy && any) return Progress::moved;
    const Progress p = step();
    if (p == Progress::waits && any) return Progress::moved;
    if (p != Progress::moved) return p;
    any = true;
  }
}

ShmGroup::Progress ShmGroup::step() {
  switch (phase_) {
    case Phase::idle: return Progress::waits;
    case Phase::memory: {
      const Progress p = get_memory();
      if (p == Progress::moved) start_rounds();
      return p;
    }
    case Phase::announce: return announce();
    case Phase::agree: return agree();
    case Phase::direct: return move_directly();
    case Phase::direct_end: return end_directly();
    case Phase::put: return put();
    case Phase::wait: return wait_for_sources();
    case Phase::sum: return move();
  }
  return Progress::waits;
}

bool ShmGroup::has_news() {
  switch (phase_) {
    case Phase::idle: return false;
    case Phase::memory: {
      if (me_ == 0) return true;
      const auto region = neighbours_.find(members_[0], key_);
      return !region || *region != nullptr;
    }
    case Phase::announce: return claim(base_);
    case Phase::put: return !writes() || claim(base_ + iteration_);
    case Phase::agree: return see(base_, Sources::everybody) || mismatched_;
    case Phase::direct_end: return see(base_ + 1, Sources::everybody) || mismatched_;
    case Phase::wait:
      return rounds_ == 0 || iteration_ == 0 || see(base_ + iteration_ - 1, sources(shape_, iteration_)) ||
             mismatched_;
    default: return true;
  }
}

// --- flags ------------------------------------------------------------------------------------------------

// May this member write its slot of the round? Everybody must be through with what was in it.
bool ShmGroup::claim(std::uint64_t round) {
  if (round < claimed_) return true;
  const std::uint64_t needed = round + 1 - std::min(round + 1, Board::kSlots);
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (static_cast<int>(i) == me_) continue;
    if (consumed_by_[i] < needed)
      consumed_by_[i] = board(static_cast<int>(i)).consumed.load(std::memory_order_acquire);
    if (consumed_by_[i] < needed) {
      whom_ = static_cast<int>(i);
      return false;
    }
    least = std::min(least, consumed_by_[i]);
  }
  claimed_ = least + Board::kSlots;
  return true;
}

// Has the round been published by all these? Not if one of them has called something else: mismatched_.
bool ShmGroup::see(std::uint64_t round, Sources from) {
  if (from == Sources::nobody) return true;
  const std::uint64_t all = from == Sources::root ? std::uint64_t{1} << shape_.root
                                                  : everyone(members_.size()) & ~(std::uint64_t{1} << me_);
  for (int i = 0; i < shape_.size; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if ((all & bit) == 0 || (sources_seen_ & bit) != 0) continue;
    const SlotHeader& theirs = header(i, round);
    whom_ = i;
    if (theirs.round.load(std::memory_order_acquire) != round + 1) return false;
    if (theirs.mark != call_.mark) {
      their_mark_ = theirs.mark;
      mismatched_ = true;
      return false;
    }
    auto& consumed = consumed_by_[static_cast<std::size_t>(i)];
    consumed = std::max(consumed, theirs.consumed);
    sources_seen_ |= bit;
  }
  return true;
}

void ShmGroup::publish(std::uint64_t round) {
  SlotHeader& mine = header(me_, round);
  mine.consumed = board(me_).consumed.load(std::memory_order_relaxed);
  mine.mark = call_.mark;
  mine.round.store(round + 1, std::memory_order_release);
  news_for_others_ = true;
}

void ShmGroup::consume(std::uint64_t rounds) {
  board(me_).consumed.store(rounds, std::memory_order_release);
  news_for_others_ = true;
}

// Once for all that was stored since the last time.
void ShmGroup::wake_others() {
  news_for_others_ = false;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see doorbell.hpp
  for (const shm::Doorbell& bell : bells_)
    if (bell.sleeping->load(std::memory_order_relaxed) != 0) bell.ring();
}

std::byte* ShmGroup::slot(int member, std::uint64_t round) const {
  if (in_line_) return board(member).slots[round % Board::kSlots].data;
  return memory_ + layout_.body_offset(member, round % Board::kSlots);
}

// --- through slots ----------------------------------------------------------------------------------------

ShmGroup::Progress ShmGroup::put() {
  const Shape& s = shape_;
  if (writes()) {
    const std::uint64_t round = base_ + iteration_;
    if (!claim(round)) return Progress::waits;
    std::byte* const mine = slot(me_, round);
    visit_puts(s, iteration_,
               [&](const Put& p) { std::memcpy(mine + p.slot, call_.input + p.input, p.length); });
    if (!sums_into_slot(s, iteration_)) publish(round);
  }
  phase_ = Phase::wait;
  sources_seen_ = 0;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::wait_for_sources() {
  if (rounds_ == 0) return end();
  if (iteration_ > 0 && !see(base_ + iteration_ - 1, sources(shape_, iteration_)))
    return mismatched_ ? Progress::mismatch : Progress::waits;
  phase_ = Phase::sum;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::move() {
  const Shape& s = shape_;
  if (iteration_ > 0) {
    const std::uint64_t read = base_ + iteration_ - 1;
    visit_sums(s, iteration_, [&](const Sum& m) { sum(m, read); });
    if (sums_into_slot(s, iteration_)) publish(base_ + iteration_);
    visit_gets(s, iteration_, [&](const Get& g) {
      std::memcpy(call_.output + g.output, slot(g.peer, read) + g.slot, g.length);
    });
    consume(read + 1);
  } else {
    visit_keeps(s, [&](const Keep& k) {
      if (call_.output + k.output != call_.input + k.input)
        std::memcpy(call_.output + k.output, call_.input + k.input, k.length);
    });
  }
  return next_iteration();
}

ShmGroup::Progress ShmGroup::next_iteration() {
  if (iteration_ == rounds_) return end();
  ++iteration_;
  phase_ = Phase::put;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::end() {
  next_round_ = base_ + rounds_;
  phase_ = Phase::idle;
  return Progress::ended;
}

void ShmGroup::sum(const Sum& m, std::uint64_t round) {
  parts_.clear();
  for (int i = 0; i < shape_.size; ++i)
    parts_.push_back(i == me_ ? call_.input + m.input : slot(i, round) + m.slot);
  std::byte* const into = m.to_output ? call_.output + m.output : slot(me_, round + 1) + m.into_slot;
  call_.reduce(into, parts_.data(), parts_.size(), m.length / call_.element_bytes, true, call_.scale);
  if (m.to_output && m.to_slot) std::memcpy(slot(me_, round + 1) + m.into_slot, into, m.length);
}

// --- straight between buffers -----------------------------------------------------------------------------

ShmGroup::Progress ShmGroup::announce() {
  if (!claim(base_)) return Progress::waits;
  const Shape& s = shape_;
  const bool conflicts =
      s.collective == Collective::all_to_all && call_.in_place;  // what others read is written
  Announcement mine;
  bool shared = !conflicts;
  const auto share = [&](const std::byte* at, std::uint64_t bytes, std::uint64_t& key,
                         std::uint64_t& offset) {
    const auto place = Allocations::of_process().find(at, bytes);
    shared = shared && place;
    if (!shared) return;
    key = place->allocation->key;
    offset = place->offset;
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (static_cast<int>(i) != me_)
        neighbours_.share(members_[i], key, place->allocation->file, place->allocation->bytes);
  };
  if (shares_input(s, me_)) share(call_.input, s.input_bytes(me_), mine.input_key, mine.input_offset);
  if (shares_output(s, me_)) share(call_.output, s.total_bytes, mine.output_key, mine.output_offset);
  static_assert(sizeof(Announcement) <= Slot::kInlineBytes);
  if (!shared) mine = {};
  std::memcpy(board(me_).slots[base_ % Board::kSlots].data, &mine, sizeof mine);
  publish(base_);
  // Who keeps his buffers to himself need not hear of the others': it goes through the slots.
  const bool asked = shares_input(s, me_) || shares_output(s, me_);
  if (asked && !shared) {
    ++base_;
    phase_ = Phase::put;
  } else {
    phase_ = Phase::agree;
  }
  sources_seen_ = 0;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::agree() {
  if (!see(base_, Sources::everybody)) return mismatched_ ? Progress::mismatch : Progress::waits;
  const Shape& s = shape_;
  std::array<Announcement, kMembersMax> all;
  bool shared = true;
  for (int i = 0; i < s.size; ++i) {
    Announcement& theirs = all[static_cast<std::size_t>(i)];
    std::memcpy(&theirs, board(i).slots[base_ % Board::kSlots].data, sizeof theirs);
    shared = shared && (!shares_input(s, i) || theirs.input_key != 0) &&
             (!shares_output(s, i) || theirs.output_key != 0);
  }
  if (shared) {
    const Progress p = find_buffers(all);
    if (p != Progress::moved) return p;
    if (s.whole) cut(shape_, kSlotBytes, 0);  // here everyone does a part
    direct_.begin(s, call_.input, call_.output, call_.reduce, call_.scale, call_.element_bytes);
    phase_ = Phase::direct;
  } else {
    consume(base_ + 1);
    ++base_;
    phase_ = Phase::put;
  }
  sources_seen_ = 0;
  return Progress::moved;
}

// Where the others' buffers are mapped here. `waits`: announced, but the memory has not arrived yet.
ShmGroup::Progress ShmGroup::find_buffers(std::span<const Announcement> all) {
  const Shape& s = shape_;
  held_.clear();
  for (int i = 0; i < s.size; ++i) {
    if (i == me_) continue;
    const Announcement& theirs = all[static_cast<std::size_t>(i)];
    std::byte *input = nullptr, *output = nullptr;
    Progress p = Progress::moved;
    if (theirs.input_key != 0)
      p = find_buffer(i, theirs.input_key, theirs.input_offset, s.input_bytes(i), input);
    if (p == Progress::moved && theirs.output_key != 0)
      p = find_buffer(i, theirs.output_key, theirs.output_offset, s.total_bytes, output);
    if (p != Progress::moved) return p;
    direct_.set_buffers(i, input, output);
  }
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::find_buffer(int member, std::uint64_t key, std::uint64_t offset,
                                         std::uint64_t bytes, std::byte*& found) {
  const Rank owner = members_[static_cast<std::size_t>(member)];
  auto region = neighbours_.find(owner, key);
  whom_ = member;
  if (region && *region == nullptr) return Progress::waits;
  if (region && offset <= (*region)->length && bytes <= (*region)->length - offset) {
    found = (*region)->memory.get() + offset;
    held_.push_back(*std::move(region));
    return Progress::moved;
  }
  failure_ = region ? Status(ErrorCode::internal,
                             fmt::format("rank {} announced {} bytes at {} of {} bytes of its memory", owner,
                                         bytes, offset, (*region)->length))
                    : region.status();
  return Progress::failed;
}

ShmGroup::Progress ShmGroup::move_directly() {
  if (!direct_.advance()) return Progress::moved;
  // The announcements have been read; the next round says that this member is done with the others' memory.
  // All others have published in this call, so they are through with the one before: there is a free slot.
  board(me_).consumed.store(base_ + 1, std::memory_order_release);
  STRATA_CHECK(claim(base_ + 1), base_);
  publish(base_ + 1);
  phase_ = Phase::direct_end;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::end_directly() {
  if (!see(base_ + 1, Sources::everybody)) return mismatched_ ? Progress::mismatch : Progress::waits;
  consume(base_ + 2);
  held_.clear();
  rounds_ = 2;
  return end();
}

}  // namespace strata
