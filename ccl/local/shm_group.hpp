// Collectives of ranks that have memory in common: each through a few flags and copies, with no messages.
//
// One collective at a time, in the order in which all members begin them. Nothing blocks: advance() does a
// bounded amount of work and says what it came to.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ccl/compute/reduce.hpp"
#include "ccl/local/allocation.hpp"
#include "ccl/local/board.hpp"
#include "ccl/local/direct.hpp"
#include "ccl/local/moves.hpp"
#include "ccl/shm/neighbours.hpp"

namespace strata {

// A collective to be done. Buffers as in strata/communicator.hpp; they stay valid until it has ended.
struct GroupCall {
  Collective collective = Collective::barrier;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  bool in_place = false;
  std::uint64_t count_bytes = 0;               // of one rank's `count`
  std::span<const std::uint64_t> counts = {};  // v forms: elements of each rank; copied
  std::uint64_t element_bytes = 1;
  Rank root = kNoRank;  // index in the group
  ReduceManyKernel reduce = nullptr;
  double scale = 1.0;
  CallMark mark{};  // the same at all members, or they called different things
};

class ShmGroup final {
 public:
  static constexpr int kMembersMax = 64;
  // Up to here latency is all: a reduction is done whole by everyone who wants its result, in one round
  // instead of two.
  static constexpr std::uint64_t kSmallBytesMax = 16 << 10;
  // From here members first tell each other where their buffers are: a round that pays if all are mapped.
  static constexpr std::uint64_t kDirectBytesMin = 8 << 10;

  static bool supports(Collective collective, bool v);

  enum class Progress : std::uint8_t { waits, moved, ended, mismatch, failed };

  // A communicator is no longer used here, whether its group has been or not: its memory is let go. Others
  // may still read there what this member has said.
  static void leave(shm::Neighbours& neighbours, Rank first, bool is_first, std::uint64_t key);

  // members: the ranks of `neighbours` by index here; members[me] is this rank. The first member makes the
  // memory and passes it to the others, when the group is first used. key: the same at all members, and not
  // used by them before.
  ShmGroup(shm::Neighbours& neighbours, std::vector<Rank> members, int me, std::uint64_t key);
  ~ShmGroup();
  ShmGroup(const ShmGroup&) = delete;
  ShmGroup& operator=(const ShmGroup&) = delete;

  // Gives memory back that went beyond the process's budget. false: others may still read it, try again.
  bool tidy();
  bool busy() const { return phase_ != Phase::idle; }
  // Not while busy().
  void begin(const GroupCall& call);
  // After `ended` the group is idle; after `mismatch` or `failed` it is of no more use.
  // wake: are sleepers woken for what they can see now? At the latest by the call that ends; who waits for
  // others must see to it himself before.
  Progress advance(bool wake = true);
  // Would advance() do more than wait? Asked before a sleep, after the sleep was announced.
  bool has_news();

  // After `mismatch`: who called something else, and what. While waiting: whom for.
  int whom() const { return whom_; }
  CallMark their_mark() const { return their_mark_; }
  const Status& failure() const { return failure_; }
  std::uint64_t round() const { return iteration_; }
  std::uint64_t rounds() const { return rounds_; }

 private:
  enum class Phase : std::uint8_t { idle, memory, announce, agree, direct, direct_end, put, wait, sum };

  Progress advance_steps();
  Progress step();
  Progress get_memory();
  Progress announce();
  Progress agree();
  // Where a member's buffers are; key 0: not in memory that others can map.
  struct Announcement {
    std::uint64_t input_key = 0, input_offset = 0, output_key = 0, output_offset = 0;
  };
  Progress find_buffers(std::span<const Announcement> all);
  Progress find_buffer(int member, std::uint64_t key, std::uint64_t offset, std::uint64_t bytes,
                       std::byte*& found);
  Progress move_directly();
  Progress end_directly();
  Progress put();
  Progress wait_for_sources();
  Progress move();
  Progress next_iteration();
  Progress end();
  void start_rounds();

  // Does this member have something to say in the round of this iteration?
  bool writes() const { return iteration_ < rounds_ && publishes(shape_, iteration_); }
  bool claim(std::uint64_t round);
  bool see(std::uint64_t round, Sources sources);
  void publish(std::uint64_t round);
  void consume(std::uint64_t rounds);
  void wake_others();
  Board& board(int member) const { return *reinterpret_cast<Board*>(memory_ + layout_.board_offset(member)); }
  SlotHeader& header(int member, std::uint64_t round) const {
    return board(member).slots[round % Board::kSlots].header;
  }
  std::byte* slot(int member, std::uint64_t round) const;
  void count_bodies();
  void sum(const Sum& sum, std::uint64_t round);

  shm::Neighbours& neighbours_;
  const std::vector<Rank> members_;
  const int me_;
  const std::uint64_t key_;
  GroupLayout layout_;
  std::shared_ptr<const shm::Region> region_;
  std::byte* memory_ = nullptr;       // its
  std::vector<shm::Doorbell> bells_;  // of the others
  bool news_for_others_ = false;      // stored, and nobody woken for it yet

  std::uint64_t next_round_ = 0;            // of the group: the first that no call has used
  std::vector<std::uint64_t> consumed_by_;  // by member: at least so many rounds
  std::uint64_t claimed_ = 0;               // rounds below this may be written without looking

  // Of each of this member's slot bodies, so much may be in memory; of all of them, so much is counted in the
  // process's budget.
  std::uint64_t body_use_ = 0, bodies_counted_ = 0;

  // The call at hand.
  Phase phase_ = Phase::idle;
  GroupCall call_;
  Shape shape_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t base_ = 0;  // the group's round that is round 0 of the moves
  std::uint64_t iteration_ = 0, rounds_ = 0;
  std::uint64_t sources_seen_ = 0;  // a bit a member
  bool in_line_ = false;            // its data lies behind the headers
  std::vector<const void*> parts_;
  DirectMoves direct_;
  std::vector<std::shared_ptr<const shm::Region>> held_;  // what direct_ works on
  int whom_ = -1;
  bool mismatched_ = false;
  CallMark their_mark_{};
  Status failure_;
};

}  // namespace strata
