// Collectives of ranks that have memory in common: each through a few flags and copies, with no messages.
//
// One collective at a time, in the order in which all members begin them. Nothing blocks: advance() does a
// bounded amount of work and says what it came to.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ccl/compute/reduce.hpp"
#include "ccl/local/allocation.hpp"
#include "ccl/local/boards.hpp"
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

struct GroupOptions {
  bool reads = true;  // this process may be read by the others, and reads them, if the system lets all do so
  ReadingRule reading_pays = strata::reading_pays;  // the same at all members, and so is
  ReadingRule telling_pays = strata::telling_pays;
};

class ShmGroup final {
 public:
  static constexpr int kMembersMax = 64;
  // Up to here latency is all: a reduction is done whole by everyone who wants its result, in one round
  // instead of two.
  static constexpr std::uint64_t kSmallBytesMax = 16 << 10;

  static bool supports(Collective collective, bool v);

  enum class Progress : std::uint8_t { waits, moved, ended, mismatch, failed };

  // A communicator is no longer used here, whether its group has been or not: its memory is let go. Others
  // may still read there what this member has said.
  static void leave(shm::Neighbours& neighbours, Rank first, bool is_first, std::uint64_t key);

  // members: the ranks of `neighbours` by index here; members[me] is this rank. The first member makes the
  // memory and passes it to the others, when the group is first used. key: the same at all members, and not
  // used by them before.
  ShmGroup(shm::Neighbours& neighbours, std::vector<Rank> members, int me, std::uint64_t key,
           GroupOptions options);
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
  // The call at hand will not end well, and its buffers are the caller's again: who still reads them will
  // know. The group is of no more use.
  void give_up();
  // Would advance() do more than wait? Asked before a sleep, after the sleep was announced.
  bool has_news();

  // After `mismatch`: who called something else, and what. While waiting: whom for.
  int whom() const { return boards_.whom(); }
  CallMark their_mark() const { return boards_.their_mark(); }
  const Status& failure() const { return failure_; }
  std::uint64_t round() const { return iteration_; }
  std::uint64_t rounds() const { return rounds_; }

 private:
  enum class Phase : std::uint8_t {
    idle,
    memory,
    announce,
    agree,
    trial,
    straight,
    straight_end,
    put,
    wait,
    sum
  };

  Progress advance_steps();
  Progress step();
  Progress get_memory();
  void start_rounds();
  Progress end(std::uint64_t next_round);
  void count_bodies();

  // shm_group_slots.cpp
  Progress put();
  Progress wait_for_sources();
  Progress move();
  Progress next_iteration();
  void sum(const Sum& sum, std::uint64_t round);
  // Does this member have something to say in the round of this iteration?
  bool writes() const { return iteration_ < rounds_ && publishes(shape_, iteration_); }
  std::byte* slot(int member, std::uint64_t round) const {
    return in_line_ ? boards_.line(member, round) : boards_.body(member, round);
  }

  // shm_group_straight.cpp
  struct Lending;
  struct Announcement;
  Progress announce();
  Lending lend(const std::byte* at, std::uint64_t bytes);
  bool readable(const std::byte* at, std::uint64_t bytes);
  Announcement announced(int member) const;
  Progress agree();
  bool can_read_all();
  Progress see_trial();
  Progress fall_back();
  void publish_next();
  Progress start_straight();
  Progress reach(int member, const Lending& lent, std::uint64_t bytes, Reach& found);
  Progress move_straight();
  Progress wait_for_end_of(int member);
  Progress end_straight();

  shm::Neighbours& neighbours_;
  Boards boards_;
  const ReadingRule reading_pays_, telling_pays_;
  const bool reads_allowed_;
  shm::ProcessMark process_;                 // of this process, once it is needed
  std::vector<shm::ProcessMark> processes_;  // of all members, from the trial on
  enum class Reads : std::uint8_t { untried, no, yes } reads_ = Reads::untried;
  std::array<std::span<const std::byte>, 16> readable_{};  // buffers of this process that others can read
  std::size_t next_readable_ = 0;

  std::uint64_t next_round_ = 0;  // of the group: the first that no call has used

  // Of each of this member's slot bodies, so much may be in memory; of all of them, so much is counted in the
  // process's budget.
  std::uint64_t body_use_ = 0, bodies_counted_ = 0;

  // The call at hand.
  Phase phase_ = Phase::idle;
  GroupCall call_;
  Shape shape_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t base_ = 0;  // the group's round that is round 0 of what is done now
  std::uint64_t iteration_ = 0, rounds_ = 0;
  bool in_line_ = false;  // its data lies behind the headers
  std::vector<const void*> parts_;
  Shape straight_;               // the same, shared out for all members
  bool may_read_ = false;        // what is not mapped
  std::uint64_t announced_ = 0;  // the round with the announcements
  DirectMoves direct_;
  std::vector<std::shared_ptr<const shm::Region>> held_;  // what direct_ works on
  Status failure_;
};

}  // namespace strata
