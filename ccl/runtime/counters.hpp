// What is counted of a rank's work, for whoever looks at it from outside while it goes on.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "strata/types.hpp"

namespace strata {

// One adds at a time, unless by add_from_anywhere(); any thread reads.
class Counter final {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void add_from_anywhere(std::uint64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// How a peer is reached; of common memory, the bytes are those of the calls.
enum class PeerClass : std::uint8_t { self, host, network, shared_memory };
inline constexpr std::size_t kPeerClasses = 4;

class Counters final {
 public:
  static constexpr std::size_t kPrioritiesMax = 16;  // of which the depth is known; others count as the last

  // Owner of the engine; submitted: any thread.
  void submitted(std::int32_t priority) { of_priority(priority).entered.add_from_anywhere(1); }
  void left(std::int32_t priority) { of_priority(priority).left.add(1); }
  void started(Collective c) { at(started_, c).add(1); }
  void ended(Collective c, bool well) { at(well ? ended_ : failed_, c).add(1); }
  void sent(PeerClass to, std::uint64_t bytes) { sent_[static_cast<std::size_t>(to)].add(bytes); }
  void received(PeerClass from, std::uint64_t bytes) { received_[static_cast<std::size_t>(from)].add(bytes); }
  void turn(bool worked) { (worked ? turns_ : idle_turns_).add(1); }
  void slept(std::uint64_t ns) {
    sleeps_.add(1);
    asleep_ns_.add(ns);
  }

  // In the text format of Prometheus, version 0.0.4.
  std::string text(Rank rank) const;

 private:
  using PerCollective = std::array<Counter, kCollectives>;
  struct Priority {
    std::atomic<std::int64_t> number{kUnused};
    Counter entered, left;
  };
  static constexpr std::int64_t kUnused = INT64_MIN;
  static Counter& at(PerCollective& counters, Collective c) { return counters[static_cast<std::size_t>(c)]; }
  Priority& of_priority(std::int32_t priority);

  PerCollective started_, ended_, failed_;
  std::array<Counter, kPeerClasses> sent_, received_;
  std::array<Priority, kPrioritiesMax> priorities_;
  Counter turns_, idle_turns_, sleeps_, asleep_ns_;
};

}  // namespace strata
