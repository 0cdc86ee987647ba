// Runs plans: issues what nothing is waiting for, and releases what waited when a step completes.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ccl/compute/reduce.hpp"
#include "ccl/planner/plan_cache.hpp"
#include "ccl/runtime/observer.hpp"
#include "ccl/runtime/router.hpp"
#include "ccl/runtime/scratch_pool.hpp"

namespace strata {

// One operation in execution. Reused: its vectors keep their capacity.
struct Run {
  // What is run, set before start().
  std::shared_ptr<const Plan> plan;
  std::array<std::byte*, 4> base{};  // by Buffer; [scratch] is set by start()
  std::span<const Rank> ranks;       // the plan's ranks -> the engine's
  Tag tag;                           // of all its messages; message is filled in per step
  Fingerprint fingerprint;
  DataType type = DataType::uint8;
  ReduceKernel reduce = nullptr;
  ReduceManyKernel reduce_many = nullptr;
  double scale = 1.0;
  std::int32_t priority = 0;
  std::uint32_t slot = 0;  // in the engine's table: half of a completion's cookie

  // Progress, owned by the executor.
  std::vector<std::uint32_t> waits;
  std::vector<StepId> ready;  // a queue: [next_ready, end)
  std::size_t next_ready = 0;
  std::vector<bool> on_wire;  // by step: posted and not completed
  bool at_once = false;       // wire steps are tried at once, and not posted yet:
  std::vector<StepId> unposted;
  std::uint32_t steps_left = 0;
  std::uint32_t in_flight = 0;  // posted and not completed
  bool failed = false;          // nothing more is issued; it ends when in_flight is 0
  bool held = false;            // nothing more is issued, and it does not end; set before start(), or between
  Scratch scratch;

  bool ended() const { return in_flight == 0 && unposted.empty() && (failed || (steps_left == 0 && !held)); }
};

class Executor final {
 public:
  Executor(Router& router, const Observer& observer) : router_(router), observer_(observer) {}
  // Binds scratch and issues the first steps. The run's buffers must stay valid until ended().
  void start(Run& run);
  // The same, but posts nothing: after start_at_once() and each look() that returned true, what can be done
  // at once on the wire has been. false: nothing could. post_rest() ends this.
  void start_at_once(Run& run);
  bool look(Run& run);
  void post_rest(Run& run);
  // A posted step completed well: release what waited for it.
  void complete(Run& run, StepId step);
  // Issues what was not while it was held.
  void resume(Run& run);
  // A posted step ended otherwise.
  void drop(Run& run, StepId step, bool well = false);
  // Takes back what an ended run held.
  void retire(Run& run);

  static std::uint64_t cookie(const Run& run, StepId step) {
    return static_cast<std::uint64_t>(run.slot) << 32 | step;
  }
  static std::uint32_t slot_of(std::uint64_t cookie) { return static_cast<std::uint32_t>(cookie >> 32); }
  static StepId step_of(std::uint64_t cookie) { return static_cast<StepId>(cookie); }

 private:
  void bind(Run& run);
  void issue_ready(Run& run);
  void issue(Run& run, StepId id);
  void reduce(Run& run, const Step& step, std::byte* into, const std::byte* from);
  WireOp wire_op(const Run& run, StepId id) const;
  void post(Run& run, StepId id);
  void release(Run& run, StepId finished);

  Router& router_;
  const Observer& observer_;
  ScratchPool scratch_;
  std::vector<const void*> parts_;  // of the reduce step at hand
};

}  // namespace strata
