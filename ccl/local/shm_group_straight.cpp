// A group's call straight between buffers, as straight.hpp has it: members say where their buffers are, and
// then all come to the same view of whether that is near enough.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ccl/base/check.hpp"
#include "ccl/base/log.hpp"
#include "ccl/local/shm_group.hpp"

namespace strata {

// Where a buffer is: so far into an allocation that is shared under a key; without a key, at an address of
// its process; 0: out of reach.
struct ShmGroup::Lending {
  std::uint64_t key = 0, at = 0;

  bool reached(bool by_reading) const { return key != 0 || (by_reading && at != 0); }
};
// A member's first round.
struct ShmGroup::Announcement {
  Lending input, output;
  shm::ProcessMark process;

  // All that the call needs of that member?
  bool suffices(const Shape& s, int member, bool by_reading) const {
    return (!lends_input(s, member) || s.input_bytes(member) == 0 || input.reached(by_reading)) &&
           (!lends_output(s, member) || output.reached(by_reading));
  }
};

ShmGroup::Progress ShmGroup::announce() {
  if (!boards_.claim(base_)) return Progress::waits;
  straight_ = shape_;
  share_out(straight_, false);
  const Shape& s = straight_;
  may_read_ = reads_ != Reads::no && !s.reduces() && reading_pays_(s);
  if (may_read_ && reads_allowed_ && process_.pid == 0)
    if (const auto mark = shm::mark_of_this_process()) process_ = *mark;
  Announcement mine;
  mine.process = process_;
  if (can_be_straight(s.collective, call_.in_place)) {
    if (lends_input(s, s.me)) mine.input = lend(call_.input, s.input_bytes(s.me));
    if (lends_output(s, s.me)) mine.output = lend(call_.output, s.total_bytes);
  }
  static_assert(sizeof mine <= Slot::kInlineBytes);
  std::memcpy(boards_.line(s.me, base_), &mine, sizeof mine);
  boards_.publish(base_);
  announced_ = base_;
  phase_ = Phase::agree;
  // Who keeps his buffers to himself need not hear of the others': it goes through the slots.
  if (mine.suffices(s, s.me, may_read_)) return Progress::moved;
  ++base_;
  phase_ = Phase::put;
  return Progress::moved;
}

ShmGroup::Lending ShmGroup::lend(const std::byte* at, std::uint64_t bytes) {
  if (const auto place = Allocations::of_process().find(at, bytes)) {
    const auto& allocation = *place->allocation;
    for (int i = 0; i < shape_.size; ++i)
      if (i != shape_.me)
        neighbours_.share(boards_.rank(i), allocation.key, allocation.file, allocation.bytes);
    return {allocation.key, place->offset};
  }
  if (may_read_ && readable(at, bytes)) return {0, reinterpret_cast<std::uintptr_t>(at)};
  return {};
}

// Asking the system costs as much as reading a little, and programs come with the same buffers again and
// again.
bool ShmGroup::readable(const std::byte* at, std::uint64_t bytes) {
  const std::span<const std::byte> buffer(at, bytes);
  const auto same = [&](std::span<const std::byte> one) {
    return one.data() == buffer.data() && one.size() == buffer.size();
  };
  if (std::any_of(readable_.begin(), readable_.end(), same)) return true;
  if (!shm::others_can_read(process_, at, bytes)) return false;
  readable_[next_readable_++ % readable_.size()] = buffer;
  return true;
}

ShmGroup::Announcement ShmGroup::announced(int member) const {
  Announcement theirs;
  std::memcpy(&theirs, boards_.line(member, announced_), sizeof theirs);
  return theirs;
}

ShmGroup::Progress ShmGroup::agree() {
  if (!boards_.see(base_, Sources::everybody, kNoRank)) return Progress::waits;
  bool mapped = true, reached = true;
  for (int i = 0; i < shape_.size; ++i) {
    const Announcement theirs = announced(i);
    mapped = mapped && theirs.suffices(straight_, i, false);
    reached = reached && theirs.suffices(straight_, i, may_read_);
  }
  if (mapped || (reached && reads_ == Reads::yes)) return start_straight();
  if (!reached) return fall_back();
  // The first call that would read: everyone tries it, and says how it went.
  *boards_.line(shape_.me, base_ + 1) = std::byte{can_read_all()};
  publish_next();
  phase_ = Phase::trial;
  return Progress::moved;
}

bool ShmGroup::can_read_all() {
  processes_.clear();
  for (int i = 0; i < shape_.size; ++i) processes_.push_back(announced(i).process);
  if (process_.pid == 0) return false;
  for (int i = 0; i < shape_.size; ++i) {
    const Status read = shm::read_memory(processes_[static_cast<std::size_t>(i)], 0, nullptr, 0);
    if (read.ok()) continue;
    log::debug("the memory of rank {} is not read: {}", boards_.rank(i), read.message());
    return false;
  }
  return true;
}

ShmGroup::Progress ShmGroup::see_trial() {
  if (!boards_.see(base_, Sources::everybody, kNoRank)) return Progress::waits;
  reads_ = Reads::yes;
  for (int i = 0; i < shape_.size; ++i)
    if (*boards_.line(i, base_) == std::byte{0}) reads_ = Reads::no;
  return reads_ == Reads::yes ? start_straight() : fall_back();
}

ShmGroup::Progress ShmGroup::fall_back() {
  boards_.consume(++base_);
  phase_ = Phase::put;
  return Progress::moved;
}

// The next round of this call. All others have published in this call, so they are through with the one
// before: there is a free slot.
void ShmGroup::publish_next() {
  static_assert(Board::kSlots >= 3, "announcement, trial, end");
  ++base_;
  STRATA_CHECK(boards_.claim(base_), base_);
  boards_.publish(base_);
}

// `waits`: announced, but the memory has not arrived yet.
ShmGroup::Progress ShmGroup::start_straight() {
  const Shape& s = straight_;
  held_.clear();
  direct_.resize(s.size);
  for (int i = 0; i < s.size; ++i) {
    if (!borrows(s, i)) continue;
    const Announcement theirs = announced(i);
    Reach input, output;
    Progress p = Progress::moved;
    if (lends_input(s, i)) p = reach(i, theirs.input, s.input_bytes(i), input);
    if (p == Progress::moved && lends_output(s, i)) p = reach(i, theirs.output, s.total_bytes, output);
    if (p != Progress::moved) return p;
    direct_.set_buffers(i, input, output);
  }
  direct_.begin(s, call_.input, call_.output, call_.reduce, call_.scale, call_.element_bytes);
  phase_ = Phase::straight;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::reach(int member, const Lending& lent, std::uint64_t bytes, Reach& found) {
  if (bytes == 0) return Progress::moved;
  if (lent.key == 0) {
    found = {nullptr, &processes_[static_cast<std::size_t>(member)], lent.at};
    return Progress::moved;
  }
  const Rank owner = boards_.rank(member);
  auto region = neighbours_.find(owner, lent.key);
  boards_.waits_for(member);
  if (region && *region == nullptr) return Progress::waits;
  if (region && lent.at <= (*region)->length && bytes <= (*region)->length - lent.at) {
    found.mapped = (*region)->memory.get() + lent.at;
    held_.push_back(*std::move(region));
    return Progress::moved;
  }
  failure_ = region ? Status(ErrorCode::internal,
                             fmt::format("rank {} announced {} bytes at {} of {} bytes of its memory", owner,
                                         bytes, lent.at, (*region)->length))
                    : region.status();
  return Progress::failed;
}

ShmGroup::Progress ShmGroup::move_straight() {
  const DirectMoves::Progress p = direct_.advance();
  if (p == DirectMoves::Progress::some) return Progress::moved;
  // Who has given up, or has died, is not waited for long: it has told the others, or its connection has
  // ended, and either says what has happened better than this group can.
  for (int i = 0; i < shape_.size; ++i)
    if (borrows(straight_, i) && boards_.has_withdrawn(i)) return wait_for_end_of(i);
  if (p == DirectMoves::Progress::failed) {
    const Status& why = direct_.failure();
    if (why.code() == ErrorCode::peer_lost) return wait_for_end_of(direct_.whose());
    failure_ = {why.code(),
                fmt::format("the buffer of rank {}: {}", boards_.rank(direct_.whose()), why.message())};
    return Progress::failed;
  }
  publish_next();
  phase_ = Phase::straight_end;
  return Progress::moved;
}

ShmGroup::Progress ShmGroup::wait_for_end_of(int member) {
  boards_.waits_for(member);
  return Progress::waits;
}

ShmGroup::Progress ShmGroup::end_straight() {
  if (!boards_.see(base_, borrowers(straight_), shape_.root)) return Progress::waits;
  boards_.consume(base_ + 1);
  held_.clear();
  return end(base_ + 1);
}

}  // namespace strata
