// Finds operations that stand still, asks the others what they know of them, and says who is late.
#pragma once
#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ccl/runtime/control.hpp"
#include "ccl/runtime/driver.hpp"
#include "ccl/runtime/operation.hpp"

namespace strata {

class Engine;

// An operation without progress for half of its time-out makes the watchdog probe all members; after the
// whole of it the communicator fails with a message drawn from their answers.
class Watchdog final {
 public:
  explicit Watchdog(Engine& engine) : engine_(engine) {}
  void check(Clock::time_point now);
  Clock::time_point next_check() const { return next_check_; }  // max(): nothing to watch
  // An operation with this time-out, or deadline, has started.
  void watch(std::uint32_t timeout_ms, Clock::time_point now);
  void watch(Clock::time_point deadline);
  static void progressed(Operation& operation, Clock::time_point now);
  void answered(Rank peer, const ControlMessage& answer);

 private:
  void probe(Operation& operation);
  Status verdict(const Operation& operation) const;
  std::string who_is_late(const Operation& operation) const;
  std::string where(const Operation& operation) const;

  Engine& engine_;
  Clock::time_point next_check_ = Clock::time_point::max();
  struct Question {
    std::uint32_t communicator;
    std::uint64_t operation;
    Rank peer;  // of a message
    bool is_about(const Operation& o) const {
      return communicator == o.communicator->id && operation == o.number && peer == o.peer;
    }
    std::vector<std::pair<Rank, ControlMessage>> answers;  // by the engine's rank
  };
  std::vector<Question> questions_;  // of operations that stand still
};

}  // namespace strata
