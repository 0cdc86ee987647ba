#include "ccl/local/boards.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "ccl/base/check.hpp"
#include "ccl/shm/memory_file.hpp"

namespace strata {
namespace {

constexpr std::uint64_t bit(int member) { return std::uint64_t{1} << member; }

}  // namespace

Boards::Boards(shm::Neighbours& neighbours, std::vector<Rank> members, int me, std::uint64_t key,
               std::uint64_t slot_bytes)
    : neighbours_(neighbours),
      members_(std::move(members)),
      me_(me),
      key_(key),
      layout_{static_cast<int>(members_.size()), slot_bytes},
      consumed_by_(members_.size()) {
  for (int i = 0; i < size(); ++i)
    if (i != me_) bells_.push_back(neighbours_.bell(rank(i)));
}

Expected<bool> Boards::open() {
  if (me_ == 0) {
    Expected<Fd> file = shm::make_memory_file(layout_.bytes());
    Expected<shm::Mapping> memory = file ? shm::map(*file, 0, layout_.bytes()) : file.status();
    if (!memory) return memory.status();
    region_ = std::make_shared<const shm::Region>(shm::Region{std::move(*memory), layout_.bytes()});
    for (int i = 1; i < size(); ++i) neighbours_.share(rank(i), key_, *file, layout_.bytes());
  } else {
    const auto region = neighbours_.take(members_[0], key_);
    if (!region) return region.status();
    whom_ = 0;
    if (*region == nullptr) return false;
    if ((*region)->length != layout_.bytes())
      return Status(ErrorCode::internal,
                    fmt::format("the group's memory has {} bytes, not {}: do all ranks run the same version?",
                                (*region)->length, layout_.bytes()));
    region_ = *region;
  }
  memory_ = region_->memory.get();
  return true;
}

bool Boards::can_open() {
  if (me_ == 0) return true;
  const auto region = neighbours_.find(members_[0], key_);
  return !region || *region != nullptr;
}

void Boards::begin(const CallMark& mark) {
  mark_ = mark;
  looked_for_ = seen_ = 0;
  whom_ = -1;
}

bool Boards::claim(std::uint64_t round) {
  if (round < claimed_) return true;
  const std::uint64_t needed = round + 1 - std::min(round + 1, Board::kSlots);
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < size(); ++i) {
    if (i == me_) continue;
    std::uint64_t& consumed = consumed_by_[static_cast<std::size_t>(i)];
    if (consumed < needed) consumed = board(i).consumed.load(std::memory_order_acquire);
    if (consumed < needed) {
      whom_ = i;
      return false;
    }
    least = std::min(least, consumed);
  }
  claimed_ = least + Board::kSlots;
  return true;
}

bool Boards::see(std::uint64_t round, Sources from, Rank root) {
  if (from == Sources::nobody) return true;
  if (looked_for_ != round + 1) seen_ = 0;
  looked_for_ = round + 1;
  for (int i = 0; i < size(); ++i) {
    if (i == me_ || (from == Sources::root && i != root) || (seen_ & bit(i)) != 0) continue;
    const SlotHeader& theirs = header(i, round);
    whom_ = i;
    if (theirs.round.load(std::memory_order_acquire) != round + 1) return false;
    if (theirs.mark != mark_) {
      their_mark_ = theirs.mark;
      mismatched_ = true;
      return false;
    }
    std::uint64_t& consumed = consumed_by_[static_cast<std::size_t>(i)];
    consumed = std::max(consumed, theirs.consumed);
    seen_ |= bit(i);
  }
  return true;
}

void Boards::publish(std::uint64_t round) {
  SlotHeader& mine = header(me_, round);
  mine.consumed = board(me_).consumed.load(std::memory_order_relaxed);
  mine.mark = mark_;
  mine.round.store(round + 1, std::memory_order_release);
  news_for_others_ = true;
}

void Boards::consume(std::uint64_t rounds) {
  board(me_).consumed.store(rounds, std::memory_order_release);
  news_for_others_ = true;
}

bool Boards::all_consumed(std::uint64_t rounds) const {
  for (int i = 0; i < size(); ++i)
    if (i != me_ && board(i).consumed.load(std::memory_order_acquire) < rounds) return false;
  return true;
}

bool Boards::has_withdrawn(int member) const {
  std::atomic_thread_fence(std::memory_order_acquire);  // after the reads, whatever made them
  return board(member).withdrawn.load(std::memory_order_relaxed) != 0;
}

void Boards::wake_others() {
  if (!news_for_others_) return;
  news_for_others_ = false;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see doorbell.hpp
  for (const shm::Doorbell& bell : bells_)
    if (bell.sleeping->load(std::memory_order_relaxed) != 0) bell.ring();
}

void Boards::free_bodies() { ::madvise(body(me_, 0), Board::kSlots * layout_.slot_bytes, MADV_REMOVE); }

}  // namespace strata
