// One call on its way: as the API hands it over, and as the engine executes it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  std::uint64_t number = 0;  // operation_number.hpp; given when it is handed over
  std::string name;          // empty: none
  double scale = 1.0;
  std::int32_t priority = 0;
  std::uint32_t timeout_ms = 0;  // 0: never
  Clock::time_point deadline = Clock::time_point::max();
  // A collective.
  Request request;
  bool local = false;  // on the memory of the communicator's group; else by a plan:
  Choice choice;
  // Point to point: which way and with whom (index in the communicator).
  Collective direction = Collective::barrier;  // send or recv; else a collective
  Rank peer = kNoRank;

  bool point_to_point() const { return peer != kNoRank; }
};

// A Submission that has been started. Slots are reused.
struct Operation {
  Run run;
  std::unique_ptr<Submission> local;  // of one that a group does; its plan has no steps
  std::shared_ptr<CommunicatorState> communicator;
  std::shared_ptr<WorkState> work;
  std::uint64_t number = 0;
  Collective collective = Collective::barrier;
  Rank peer = kNoRank;  // point to point only
  std::uint32_t timeout_ms = 0;
  Clock::time_point last_progress;
  std::uint32_t next_probe_ms = 0;  // of standing still: when its peers are asked about it
  Clock::time_point deadline;
  // Cancelling it, engine_cancel.cpp. On hold: nothing new is issued, and it does not end.
  std::uint32_t holds = 0;       // ranks that ask for it and have not decided
  bool asking = false;           // this rank does:
  bool refused = false;          //   one has refused
  std::vector<Rank> unanswered;  //   the engine's ranks that have not answered
  Status why;                    //   what it will end with
  Status cancelled;              // not ok: it has been, and ends with this
  bool group_at_work = false;    // local: the group has begun it
  bool active = false;
  std::uint32_t place = 0;  // in the engine's list of active ones
};

}  // namespace strata
