#include "ccl/runtime/executor.hpp"

#include <cstring>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

WireKind wire_kind(Op op) {
  switch (op) {
    case Op::send: return WireKind::send;
    case Op::recv: return WireKind::recv;
    default: return WireKind::recv_reduce;
  }
}

std::byte* at(const Run& run, Buffer buffer, std::uint64_t offset) {
  return buffer == Buffer::none ? nullptr : run.base[static_cast<std::size_t>(buffer)] + offset;
}

}  // namespace

void Executor::start(Run& run) {
  bind(run);
  issue_ready(run);
}

void Executor::start_at_once(Run& run) {
  bind(run);
  run.at_once = true;
  issue_ready(run);
}

// In the order in which they became ready: sends before the receives that wait for their answers.
bool Executor::look(Run& run) {
  bool any = false;
  for (std::size_t i = 0; i < run.unposted.size();) {
    const StepId id = run.unposted[i];
    const WireOp op = wire_op(run, id);
    if (!router_.to(op.peer).try_at_once(op)) {
      ++i;
      continue;
    }
    run.unposted.erase(run.unposted.begin() + static_cast<std::ptrdiff_t>(i));
    observer_.completed(run, id, true);
    release(run, id);
    issue_ready(run);
    any = true;
  }
  return any;
}

void Executor::post_rest(Run& run) {
  run.at_once = false;
  for (const StepId id : run.unposted) post(run, id);
  run.unposted.clear();
}

void Executor::bind(Run& run) {
  const Schedule& schedule = run.plan->schedule;
  run.waits.assign(schedule.waits.begin(), schedule.waits.end());
  run.ready.clear();
  run.ready.reserve(schedule.steps.size());
  run.ready.insert(run.ready.end(), schedule.roots.begin(), schedule.roots.end());
  run.next_ready = 0;
  run.on_wire.assign(schedule.steps.size(), false);
  run.steps_left = static_cast<std::uint32_t>(schedule.steps.size());
  run.in_flight = 0;
  run.failed = false;
  run.scratch = scratch_.take(schedule.scratch_bytes);
  run.base[static_cast<std::size_t>(Buffer::scratch)] = run.scratch.memory.get();
  run.at_once = false;
  run.unposted.clear();
}

void Executor::drop(Run& run, StepId step, bool well) {
  STRATA_CHECK(run.on_wire[step], step, run.tag.operation);
  run.on_wire[step] = false;
  --run.in_flight;
  observer_.completed(run, step, well);
}

void Executor::retire(Run& run) {
  scratch_.give(std::move(run.scratch));
  run.plan.reset();
}

void Executor::complete(Run& run, StepId step) {
  drop(run, step, true);
  if (run.failed) return;
  release(run, step);
  issue_ready(run);
}

void Executor::release(Run& run, StepId finished) {
  for (const StepId dependent : run.plan->schedule.dependents_of(finished))
    if (--run.waits[dependent] == 0) run.ready.push_back(dependent);
  --run.steps_left;
}

void Executor::resume(Run& run) {
  run.held = false;
  issue_ready(run);
}

void Executor::issue_ready(Run& run) {
  while (!run.held && run.next_ready < run.ready.size()) issue(run, run.ready[run.next_ready++]);
}

void Executor::issue(Run& run, StepId id) {
  const Step& step = run.plan->schedule.steps[id];
  if (step.on_wire()) {
    observer_.posted(run, id);
    return run.at_once ? run.unposted.push_back(id) : post(run, id);
  }
  const std::uint64_t since = observer_.now();
  std::byte* const into = at(run, step.target, step.target_offset);
  const std::byte* const from = at(run, step.source, step.source_offset);
  if (step.op == Op::copy) {
    std::memcpy(into, from, step.length);
  } else {
    reduce(run, step, into, from);
  }
  observer_.step(run, step, since);
  release(run, id);
}

void Executor::reduce(Run& run, const Step& step, std::byte* into, const std::byte* from) {
  parts_.assign(1, into);
  for (std::uint32_t k = 0; k < step.fan_in(); ++k) parts_.push_back(from + k * step.length);
  run.reduce_many(into, parts_.data(), parts_.size(), step.length / size_of(run.type), step.finishes(),
                  run.scale);
}

WireOp Executor::wire_op(const Run& run, StepId id) const {
  const Step& step = run.plan->schedule.steps[id];
  WireOp op;
  op.kind = wire_kind(step.op);
  op.element_bytes = static_cast<std::uint8_t>(size_of(run.type));
  op.priority = run.priority;
  op.peer = run.ranks[static_cast<std::size_t>(step.peer)];
  op.tag = run.tag;
  op.tag.message = run.plan->schedule.message[id];
  op.fingerprint = run.fingerprint;
  op.length = step.length;
  op.cookie = cookie(run, id);
  op.recorder = observer_.recorder();
  if (step.op == Op::send) {
    op.data = at(run, step.source, step.source_offset);
  } else {
    op.data = at(run, step.target, step.target_offset);
    op.addend = at(run, step.source, step.source_offset);
    op.reduce = step.op == Op::recv_reduce ? run.reduce : nullptr;
  }
  return op;
}

void Executor::post(Run& run, StepId id) {
  const WireOp op = wire_op(run, id);
  run.on_wire[id] = true;
  ++run.in_flight;
  router_.to(op.peer).post(op);
}

}  // namespace strata
