// What one rank knows of one communicator.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ccl/algorithms/algorithm.hpp"
#include "ccl/local/shm_group.hpp"
#include "ccl/planner/plan_cache.hpp"
#include "ccl/planner/selector.hpp"
#include "ccl/runtime/names.hpp"
#include "ccl/runtime/whereabouts.hpp"
#include "ccl/transport/transport.hpp"
#include "strata/status.hpp"

namespace strata {

// The first communicator's number; those split from it get theirs in split.cpp, and this one marks the
// engines' own messages.
inline constexpr std::uint32_t kFirstCommunicator = 1;
inline constexpr std::uint32_t kControlCommunicator = 0xffffffff;
inline constexpr std::uint32_t kTraceCommunicator = 0xfffffffe;  // gathers the timeline

struct CommunicatorState {
  CommunicatorState(std::uint32_t number, std::vector<Rank> members, int my_index)
      : id(number),
        ranks(std::move(members)),
        group(whole_group(static_cast<int>(ranks.size()), my_index)),
        selector(std::make_shared<const Selector>(
            CostModel{default_costs(), one_host(static_cast<int>(ranks.size()), LinkKind::memory)})),
        next_send(ranks.size()),
        next_recv(ranks.size()),
        left_at(ranks.size(), kPresent),
        left_names(ranks.size()) {}

  const std::uint32_t id;
  const std::vector<Rank> ranks;  // index here -> the engine's rank
  Group group;
  std::shared_ptr<const Selector> selector;
  // Before the first call: one that knows the links, and so where the members sit.
  void select_by(CostModel model) {
    selector = std::make_shared<const Selector>(std::move(model));
    group.hierarchy = selector->model().levels;
  }
  // Of a job's first communicator, if it has several ranks: how that is known.
  std::shared_ptr<const Whereabouts> where;
  std::uint32_t timeout_ms = 0;
  std::string algorithm;    // forced by default; empty: selected
  bool reads_peers = true;  // CommunicatorOptions::single_copy
  // Of the transport that reaches all other members through shared memory; null: there is none.
  shm::Neighbours* neighbours = nullptr;

  int size() const { return group.size(); }
  int me() const { return group.me; }
  // -1: not a member
  int index_of(Rank engine_rank) const {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (ranks[i] == engine_rank) return static_cast<int>(i);
    return -1;
  }

  // Any thread: the order of calls. Held while an operation gets its number and enters the engine's queue.
  std::mutex order;
  std::atomic<std::uint64_t> next_operation{0};  // the engine's owner may take one without `order`
  std::vector<std::atomic<std::uint64_t>> next_send,
      next_recv;  // by peer; changed under `order`, read by anyone
  Names names;
  std::uint32_t splits = 0;
  std::atomic<std::uint32_t> active{0};  // operations started and not ended

  // Any thread: why it failed, once.
  Status status() const {
    const std::lock_guard lock(status_mutex_);
    return status_;
  }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // Keeps the first. true if it was this one.
  bool fail(const Status& status) {
    const std::lock_guard lock(status_mutex_);
    if (!status_.ok()) return false;
    status_ = status;
    failed_.store(true, std::memory_order_release);
    return true;
  }

  // The engine's owner only, from here on.
  static constexpr std::uint64_t kPresent = ~std::uint64_t{0};
  static constexpr std::size_t kRecentOperations = 64;
  PlanCache plans;
  std::unique_ptr<ShmGroup> local_group;  // made when first used
  std::deque<std::uint32_t> local_queue;  // the engine's slots of its operations, the first is at work
  std::uint64_t started = 0;              // collectives 0 .. started - 1 have been started here
  bool anybody_left = false;
  std::vector<std::uint64_t> left_at;  // by index: the first operation that rank will not take part in
  std::vector<std::unordered_map<std::uint64_t, std::uint64_t>>
      left_names;  // likewise: without_call() -> call
  // Of a collective: does that rank take part in it, unless it has left before?
  bool left_before(int index, std::uint64_t number) const;
  std::array<Fingerprint, kRecentOperations> recent{};  // of operation n at n % kRecentOperations
  // A collective has been started here, in the order of calls, or of those of its name.
  void start(std::uint64_t number, const Fingerprint& fingerprint);
  bool has_started(std::uint64_t number) const;
  // Collectives started, messages called: how many of its kind, or of its name. peer: of a message, the
  // index.
  std::uint64_t calls_like(std::uint64_t number, Rank peer) const;
  // What this rank called the collective, started before; nothing: too long ago.
  std::optional<Fingerprint> recently_called(std::uint64_t number) const;
  struct Early {
    std::uint64_t operation;
    Rank peer;  // the engine's
    Fingerprint theirs;
  };
  std::vector<Early> early;  // what peers have begun and this rank has not; checked when it does
  // Of operations that this rank has not started: peers that ask for them to be cancelled, and those that
  // are.
  struct Hold {
    std::uint64_t number;
    Rank peer;   // of a message, the index; else kNoRank
    Rank asker;  // the engine's
  };
  struct Cancelled {
    std::uint64_t number;
    Rank peer;
    Status why;
  };
  std::vector<Hold> early_holds;
  std::vector<Cancelled> early_cancelled;
  // Messages that were cancelled lately: number and peer (the engine's). What still comes of them is thrown
  // away.
  static constexpr std::size_t kCancelledMessagesMax = 1024;
  std::deque<std::pair<std::uint64_t, Rank>> cancelled_messages;

 private:
  mutable std::mutex status_mutex_;
  Status status_;
  std::atomic<bool> failed_{false};
};

}  // namespace strata
