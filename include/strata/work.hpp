// The handle of one operation that has been started and may not have ended.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "strata/export.h"
#include "strata/status.hpp"

namespace strata {

struct WorkState;  // internal

// Copies name the same operation. All functions may be called from any thread. Dropping every copy does not
// cancel the operation: its buffers must stay valid until it has ended.
class STRATA_API Work {
 public:
  Work();  // ended, ok
  explicit Work(std::shared_ptr<WorkState> state);
  explicit Work(Status ended);  // never started: ended with this status
  Work(const Work&);
  Work(Work&&) noexcept;
  Work& operator=(const Work&);
  Work& operator=(Work&&) noexcept;
  ~Work();

  // Has it ended, well or badly? Never blocks; advances the operation when nobody else does.
  bool done() const;
  // Blocks until it has ended and returns how. Drives progress on the calling thread: lowest latency.
  Status wait() const;
  // Like wait, but gives up after `timeout`: then the result is a `timeout` status and the operation goes on.
  Status wait_for(std::chrono::milliseconds timeout) const;
  // How it ended; ok while it has not.
  Status status() const;
  // Calls `callback` once, when it ends (now, if it has): on the thread that drives progress, so it must be
  // short and must not wait for other operations.
  void then(std::function<void(const Status&)> callback) const;

  // Asks all its ranks to end it, with the status `cancelled` on all of them and what is in its buffers not
  // defined; returns at once. It goes on, and ends as it would have, if it has ended on one of them, has
  // failed, or the ranks of a host have begun it on memory they have in common. A rank that has not called it
  // yet lets its call end at once, when it comes. Of a message only the two ranks are asked; one to oneself
  // goes on.
  void cancel() const;
  // When it is cancelled by itself (CallOptions::deadline_ms); nothing: never.
  std::optional<std::chrono::steady_clock::time_point> deadline() const;

  // Blocks until one has ended; returns its index. works must not be empty.
  static std::size_t wait_any(std::span<const Work> works);
  // Blocks until all have ended; returns the first bad status in order of the list.
  static Status wait_all(std::span<const Work> works);

 private:
  std::shared_ptr<WorkState> state_;
};

}  // namespace strata
