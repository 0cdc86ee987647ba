// What a Work names: one operation's end, and who must be driven to reach it.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "strata/status.hpp"
#include "strata/work.hpp"

namespace strata {

class Engine;

// Written once by end(); everything else only reads. A Work of a group has parts instead of an engine.
struct WorkState {
  explicit WorkState(std::shared_ptr<Engine> owner) : engine(std::move(owner)) {}
  explicit WorkState(std::vector<Work> members) : parts(std::move(members)) {}

  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Only after ended().
  const Status& status() const { return status_; }
  void end(Status status);
  void then(std::function<void(const Status&)> callback);

  const std::shared_ptr<Engine> engine;
  const std::vector<Work> parts;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();  // set once

 private:
  std::atomic<bool> ended_{false};
  Status status_;
  std::mutex callbacks_mutex_;
  std::vector<std::function<void(const Status&)>> callbacks_;
};

}  // namespace strata
