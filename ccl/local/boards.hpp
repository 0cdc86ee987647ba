// The memory of a group, its board for each member, and the rounds that members publish there.
//
// One thread at a time. Nothing blocks: each question is answered by what is there now.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/local/board.hpp"
#include "ccl/local/moves.hpp"
#include "ccl/shm/neighbours.hpp"

namespace strata {

class Boards final {
 public:
  // As ShmGroup has them.
  Boards(shm::Neighbours& neighbours, std::vector<Rank> members, int me, std::uint64_t key,
         std::uint64_t slot_bytes);
  Boards(const Boards&) = delete;
  Boards& operator=(const Boards&) = delete;

  int size() const { return layout_.members; }
  int me() const { return me_; }
  Rank rank(int member) const { return members_[static_cast<std::size_t>(member)]; }

  // The first member makes the memory; the others find it when it has arrived. false: it has not yet.
  bool is_open() const { return memory_ != nullptr; }
  Expected<bool> open();
  bool can_open();  // would open() do more than wait?

  // A call begins; rounds published from now on bear its mark, and must bear it at the others.
  void begin(const CallMark& mark);
  // May this member write its slot of the round? Everybody must be through with what was in it.
  bool claim(std::uint64_t round);
  // Has the round been published by all these? Not if one of them has called something else: mismatched().
  bool see(std::uint64_t round, Sources from, Rank root);
  void publish(std::uint64_t round);
  // This member does not look again at rounds below this.
  void consume(std::uint64_t rounds);
  // Has everyone consumed what is below this?
  bool all_consumed(std::uint64_t rounds) const;

  // What this member lent is not to be used any more; has another said so? Asked after its memory was read:
  // if not, that was still what it lent.
  void withdraw() { board(me_).withdrawn.store(1, std::memory_order_release); }
  bool has_withdrawn(int member) const;

  // Wakes the others, once for all that was stored since the last time.
  void wake_others();

  // Whom this member waits for, or who called something else, and what.
  int whom() const { return whom_; }
  void waits_for(int member) { whom_ = member; }
  bool mismatched() const { return mismatched_; }
  CallMark their_mark() const { return their_mark_; }

  // The data of a round, behind its header, and in the body of its slot.
  std::byte* line(int member, std::uint64_t round) const {
    return board(member).slots[round % Board::kSlots].data;
  }
  std::byte* body(int member, std::uint64_t round) const {
    return memory_ + layout_.body_offset(member, round % Board::kSlots);
  }
  // Gives the memory of this member's bodies back.
  void free_bodies();

 private:
  Board& board(int member) const { return *reinterpret_cast<Board*>(memory_ + layout_.board_offset(member)); }
  SlotHeader& header(int member, std::uint64_t round) const {
    return board(member).slots[round % Board::kSlots].header;
  }

  shm::Neighbours& neighbours_;
  const std::vector<Rank> members_;
  const int me_;
  const std::uint64_t key_;
  const GroupLayout layout_;
  std::shared_ptr<const shm::Region> region_;
  std::byte* memory_ = nullptr;       // its
  std::vector<shm::Doorbell> bells_;  // of the others
  bool news_for_others_ = false;      // stored, and nobody woken for it yet

  std::vector<std::uint64_t> consumed_by_;  // by member: at least so many rounds
  std::uint64_t claimed_ = 0;               // rounds below this may be written without looking

  // The call at hand.
  CallMark mark_{};
  std::uint64_t looked_for_ = 0, seen_ = 0;  // a round, and who has published it: a bit a member
  int whom_ = -1;
  bool mismatched_ = false;
  CallMark their_mark_{};
};

}  // namespace strata
