// Who advances the engine, and when: threads that wait drive it themselves; a progress thread does when
// nobody waits.
#pragma once
#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "ccl/base/fd.hpp"

namespace strata {

using Clock = std::chrono::steady_clock;

// What is driven. Called by one thread at a time, the owner.
class Driven {
 public:
  virtual ~Driven() = default;
  virtual bool turn(Clock::time_point now) = 0;  // a bounded amount of work; true if there was some
  // Announces a sleep on the descriptors; false: do not sleep, there is news.
  virtual bool prepare_to_sleep() = 0;
  virtual void woke_up() = 0;
  virtual Clock::time_point next_check()
      const = 0;  // turn() is wanted by then even without news; max(): never
};

struct DriverOptions {
  bool progress_thread = true;
  std::chrono::microseconds spin{50};  // polling before a sleep
  bool yield = false;                  // spin by yielding the core: others need it
};

// A lock that is only ever tried.
class TryLock final {
 public:
  bool try_lock() {
    return !locked_.load(std::memory_order_relaxed) && !locked_.exchange(true, std::memory_order_acquire);
  }
  void unlock() { locked_.store(false, std::memory_order_release); }
  bool locked() const { return locked_.load(); }

 private:
  std::atomic<bool> locked_{false};
};

class Driver final {
 public:
  Driver(Driven& driven, DriverOptions options, std::vector<int> descriptors);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() { stop(); }

  // Returns when ended() is true (true) or the deadline has passed (false).
  bool drive(const std::function<bool()>& ended, Clock::time_point deadline);
  void help();  // one turn, if nobody else is at it
  // Runs `what` as the owner, if nobody else is at it and this is none of its callbacks. false: not run.
  template <class What>
  bool try_as_owner(What&& what) {
    if (on_owner_thread() || !try_own()) return false;
    // As drive() does, so that the progress thread leaves the engine to callers.
    waits_.store(waits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (progress_sleeps_.load(std::memory_order_relaxed)) ring_progress();
    what();
    disown();
    return true;
  }
  bool yields() const { return options_.yield; }
  void submitted();  // there is news for turn()
  void ended();      // something that threads may wait for has ended; owner only
  bool on_owner_thread() const {
    return owner_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  void stop();  // ends the progress thread; drive() and help() still work

 private:
  bool try_own();
  void disown();
  bool drive_as_owner(const std::function<bool()>& ended, Clock::time_point deadline);
  void sleep_as_owner(std::uint64_t news_seen, Clock::time_point until);
  void wait_for_turn(const std::function<bool()>& ended, Clock::time_point deadline);
  void notify_blocked();
  void ring_progress();
  void pause(Clock::duration idle) const;
  void progress_loop();
  bool progress_once(Clock::time_point& idle_since);
  void doze();
  void sleep_deeply();
  void sleep_on(const Fd& bell, Clock::time_point until);

  Driven& driven_;
  const DriverOptions options_;
  std::vector<int> descriptors_;

  TryLock owner_;
  std::atomic<std::thread::id> owner_thread_{};
  bool announced_ = false;  // prepare_to_sleep() was called without woke_up(); guarded by owner_

  std::atomic<std::uint64_t> news_{0};  // submissions so far
  std::atomic<std::uint64_t> changes_{
      0};                          // what blocked threads wait for: operations ended, ownership given up
  Fd owner_bell_, progress_bell_;  // eventfds
  std::atomic<bool> owner_sleeps_{false};     // somebody polls owner_bell_
  std::atomic<bool> progress_sleeps_{false};  // the progress thread polls progress_bell_ without a time-out
  std::atomic<int> waiting_{0};               // threads in drive()
  std::atomic<std::uint64_t> waits_{0};       // drive() calls so far

  std::mutex blocked_mutex_;
  std::condition_variable blocked_changed_;
  std::atomic<int> blocked_{0};

  std::atomic<bool> stopping_{false};
  std::uint64_t news_seen_ = 0;  // by the progress thread's last turn
  std::thread progress_;
};

}  // namespace strata
