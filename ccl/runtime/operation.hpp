// One call on its way: as the API hands it over, and as the engine executes it.
#pragma once
#include <cstdint>
#include <memory>

#include "ccl/algorithms/algorithm.hpp"
#include "ccl/planner/selector.hpp"
#include "ccl/runtime/communicator_state.hpp"
#include "ccl/runtime/driver.hpp"
#include "ccl/runtime/executor.hpp"
#include "ccl/runtime/work_state.hpp"

namespace strata {

// Checked, selected and numbered by the calling thread; everything else is the engine's.
struct Submission {
  std::shared_ptr<CommunicatorState> communicator;
  std::shared_ptr<WorkState> work;
  const void* input = nullptr;
  void* output = nullptr;
  Fingerprint fingerprint;
  std::uint64_t number = 0;  // with kPointToPoint for send and recv
  double scale = 1.0;
  std::int32_t priority = 0;
  std::uint32_t timeout_ms = 0;  // 0: never
  // A collective.
  Request request;
  bool local = false;  // on the memory of the communicator's group; else by a plan:
  Choice choice;
  // Point to point: which way and with whom (index in the communicator).
  Collective direction = Collective::barrier;  // send or recv; else a collective
  Rank peer = kNoRank;

  bool point_to_point() const { return number & kPointToPoint; }
};

// A Submission that has been started. Slots are reused.
struct Operation {
  Run run;
  std::unique_ptr<Submission> local;  // of one that a group does; its plan has no steps
  std::shared_ptr<CommunicatorState> communicator;
  std::shared_ptr<WorkState> work;
  std::uint64_t number = 0;
  Rank peer = kNoRank;  // point to point only
  std::uint32_t timeout_ms = 0;
  Clock::time_point last_progress;
  std::uint32_t next_probe_ms = 0;  // of standing still: when its peers are asked about it
  bool active = false;
  std::uint32_t place = 0;  // in the engine's list of active ones
};

}  // namespace strata
