// Events in the order of their time; at the same time, in the order in which they were found.
#include "ccl/planner/simulate.hpp"

#include <algorithm>
#include <vector>

#include "ccl/base/check.hpp"
#include "ccl/planner/pairing.hpp"

namespace strata {
namespace {

constexpr Picoseconds kUnknown = -1;

// What a rank's CPU is asked to do for a step.
enum class Job : std::uint8_t { step, announce, receive };

struct Event {
  Picoseconds time;
  std::uint64_t order;  // of discovery
  Rank rank;
  Job job;
  bool core_is_free = false;  // no work: a core of the rank's host may have become free
  StepId step;
  bool operator<(const Event& other) const {  // for a heap with the earliest on top
    return time != other.time ? time > other.time : order > other.order;
  }
};

struct Task {
  StepId step;
  Job job;
};

// One rank: what waits for its CPU, first come first served.
struct Cpu {
  Picoseconds free_at = 0;
  std::vector<Task> waiting;
  std::size_t next = 0;
  bool woken = false;  // an event is on its way that goes on with `waiting`

  bool idle() const { return next == waiting.size(); }
};

struct Host {
  std::vector<Picoseconds> core_free_at;  // empty: a core for each rank
};

// What messages share, each way.
struct Way {
  Picoseconds out_free_at = 0, in_free_at = 0;
};

class Simulation final {
 public:
  Simulation(std::span<const Schedule> schedules, const CostModel& model)
      : schedules_(schedules),
        model_(model),
        pairing_(schedules),
        cpus_(schedules.size()),
        hosts_(model.placement.cores.size()),
        nics_(hosts_.size()),
        uplinks_(model.placement.uplinks.size()),
        link_free_at_(schedules.size() * schedules.size(), 0) {
    STRATA_CHECK(model.size() == static_cast<int>(schedules.size()), model.size(), schedules.size());
    waits_.reserve(pairing_.steps());
    for (const Schedule& s : schedules) waits_.insert(waits_.end(), s.waits.begin(), s.waits.end());
    ready_at_.assign(pairing_.steps(), kUnknown);
    arrives_at_.assign(pairing_.steps(), kUnknown);
    share_cores();
  }

  Picoseconds run() {
    for (Rank r = 0; r < model_.size(); ++r)
      for (const StepId s : schedules_[index(r)].roots) ready(r, s, 0);
    while (!events_.empty()) {
      std::pop_heap(events_.begin(), events_.end());
      const Event event = events_.back();
      events_.pop_back();
      handle(event);
    }
    STRATA_CHECK(done_ == pairing_.steps(), done_, pairing_.steps());
    return end_;
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }
  const Step& step_of(Rank rank, StepId s) const { return schedules_[index(rank)].steps[s]; }
  Host& host_of(Rank rank) { return hosts_[static_cast<std::size_t>(model_.host_of(rank))]; }

  void share_cores() {
    std::vector<int> ranks(hosts_.size(), 0);
    for (const int host : model_.placement.host) ++ranks[static_cast<std::size_t>(host)];
    for (std::size_t h = 0; h < hosts_.size(); ++h)
      if (const int cores = model_.placement.cores[h]; ranks[h] > cores)
        hosts_[h].core_free_at.assign(static_cast<std::size_t>(std::max(1, cores)), 0);
  }

  void push(Picoseconds time, Rank rank, StepId step, Job job) {
    events_.push_back({.time = time, .order = order_++, .rank = rank, .job = job, .step = step});
    std::push_heap(events_.begin(), events_.end());
  }

  // Goes on with what waits for the rank's CPU, at `time`.
  void wake(Rank rank, Picoseconds time) {
    cpus_[index(rank)].woken = true;
    events_.push_back(
        {.time = time, .order = order_++, .rank = rank, .job = Job::step, .core_is_free = true, .step = 0});
    std::push_heap(events_.begin(), events_.end());
  }

  void handle(const Event& event) {
    Cpu& cpu = cpus_[index(event.rank)];
    if (event.core_is_free)
      cpu.woken = false;
    else
      cpu.waiting.push_back({event.step, event.job});
    if (cpu.woken || cpu.idle()) return;
    if (cpu.free_at > event.time) return wake(event.rank, cpu.free_at);
    Picoseconds* const core = earliest_core(event.rank);
    if (core != nullptr && *core > event.time) return wake(event.rank, *core);
    const bool waited = cpu.free_at < event.time;
    const Task task = cpu.waiting[cpu.next++];
    Picoseconds began = event.time;
    if (core != nullptr && waited && task.job == Job::receive)
      began += model_.link(event.rank, step_of(event.rank, task.step).peer).turn_ps;
    cpu.free_at = perform(event.rank, task, began);
    if (core != nullptr) *core = cpu.free_at;
    if (!cpu.idle()) wake(event.rank, cpu.free_at);
  }

  Picoseconds* earliest_core(Rank rank) {
    std::vector<Picoseconds>& cores = host_of(rank).core_free_at;
    return cores.empty() ? nullptr : &*std::min_element(cores.begin(), cores.end());
  }

  // Returns when the CPU is free again.
  Picoseconds perform(Rank rank, Task task, Picoseconds began) {
    const Step& step = step_of(rank, task.step);
    if (task.job == Job::announce) return announce(rank, task.step, step, began);
    const Picoseconds ended =
        step.op == Op::send ? send(rank, task.step, step, began) : began + cpu(rank, step);
    finish(rank, task.step, ended);
    return ended;
  }

  // The CPU's work, on a host with more ranks than cores or not.
  Picoseconds stretched(Rank rank, Picoseconds time) {
    return host_of(rank).core_free_at.empty() ? time : time * model_.costs.local.crowded_percent / 100;
  }
  Picoseconds cpu(Rank rank, const Step& step) { return stretched(rank, cpu_time(step, rank, model_)); }

  // "I have posted the receive of a long message."
  Picoseconds announce(Rank rank, StepId id, const Step& step, Picoseconds began) {
    const LinkCost& link = model_.link(rank, step.peer);
    const Picoseconds ended = began + stretched(rank, model_.costs.local.step_ps + link.send_ps);
    const StepId theirs = pairing_.partner(rank, id);
    Picoseconds& heard = arrives_at_[pairing_.place(step.peer, theirs)];
    heard = ended + link.latency_ps;
    const Picoseconds wanted = ready_at_[pairing_.place(step.peer, theirs)];
    if (wanted != kUnknown) push(std::max(wanted, heard), step.peer, theirs, Job::step);
    return ended;
  }

  // Returns when the sender has done its part.
  Picoseconds send(Rank rank, StepId id, const Step& step, Picoseconds began) {
    const LinkCost& link = model_.link(rank, step.peer);
    if (step.length > link.eager_bytes) began += stretched(rank, link.recv_ps);  // of the announcement
    const std::uint64_t grain = std::min(step.length, link.grain_bytes);
    const Picoseconds ended = began + cpu(rank, step);
    const Picoseconds first_out = ended - stretched(rank, time_of(step.length - grain, link.send_ps_per_kib));
    const Wire wire = occupy_wire(rank, step.peer, first_out, step.length, link.wire_ps_per_kib);
    const Picoseconds grain_on_wire = time_of(grain, wire.ps_per_kib);
    const Picoseconds first_in = wire.begin + grain_on_wire + link.latency_ps;
    const Picoseconds last_in = std::max(wire.end, ended + grain_on_wire) + link.latency_ps;
    const StepId theirs = pairing_.partner(rank, id);
    const Step& receive = step_of(step.peer, theirs);
    // So late that the receiver, if it is free, is done with all but the last grain when that arrives.
    const Picoseconds after_last = stretched(step.peer, link.recv_ps + time_of(grain, link.recv_ps_per_kib));
    const std::size_t there = pairing_.place(step.peer, theirs);
    arrives_at_[there] = std::max(first_in, last_in + after_last - cpu(step.peer, receive));
    if (ready_at_[there] != kUnknown)
      push(std::max(ready_at_[there], arrives_at_[there]), step.peer, theirs, Job::receive);
    return ended;
  }

  struct Wire {
    Picoseconds begin, end;  // of the message, where it leaves the last part
    Picoseconds ps_per_kib;  // of the slowest part
  };
  // One part of a message's way: when it is free, and for how long a KiB of the message takes it. A message
  // that has to wait for a part does not keep the other parts from others: between hosts each pair has its
  // connection, and what is in flight in it is buffered.
  struct Part {
    Picoseconds* free_at;
    Picoseconds ps_per_kib;
  };

  Wire occupy_wire(Rank from, Rank to, Picoseconds time, std::uint64_t bytes, Picoseconds link_ps_per_kib) {
    parts_ = {{&link_free_at_[index(from) * schedules_.size() + index(to)], link_ps_per_kib}};
    if (model_.host_of(from) != model_.host_of(to))
      add_network(static_cast<std::size_t>(model_.host_of(from)),
                  static_cast<std::size_t>(model_.host_of(to)), link_ps_per_kib);
    Wire wire{time, time, link_ps_per_kib};
    for (const Part& part : parts_) {
      if (part.ps_per_kib == 0) continue;
      const Picoseconds begin = std::max(time, *part.free_at);
      *part.free_at = begin + time_of(bytes, part.ps_per_kib);
      wire.begin = std::max(wire.begin, begin);
      wire.end = std::max(wire.end, *part.free_at);
      wire.ps_per_kib = std::max(wire.ps_per_kib, part.ps_per_kib);
    }
    return wire;
  }

  void add_network(std::size_t from, std::size_t to, Picoseconds link_ps_per_kib) {
    const auto& nic = model_.placement.nic_ps_per_kib;
    parts_.push_back({&nics_[from].out_free_at, nic.empty() ? link_ps_per_kib : nic[from]});
    for (std::size_t i = 0; i < uplinks_.size(); ++i) {
      const Uplink& uplink = model_.placement.uplinks[i];
      if (uplink.hosts[from] == uplink.hosts[to]) continue;
      parts_.push_back(
          {uplink.hosts[from] ? &uplinks_[i].out_free_at : &uplinks_[i].in_free_at, uplink.ps_per_kib});
    }
    parts_.push_back({&nics_[to].in_free_at, nic.empty() ? link_ps_per_kib : nic[to]});
  }

  void finish(Rank rank, StepId id, Picoseconds time) {
    ++done_;
    end_ = std::max(end_, time);
    for (const StepId dependent : schedules_[index(rank)].dependents_of(id))
      if (--waits_[pairing_.place(rank, dependent)] == 0) ready(rank, dependent, time);
  }

  // A step waits for none before it any more.
  void ready(Rank rank, StepId id, Picoseconds time) {
    const Step& step = step_of(rank, id);
    if (!step.on_wire()) return push(time, rank, id, Job::step);
    const std::size_t here = pairing_.place(rank, id);
    const bool is_long = step.length > model_.link(rank, step.peer).eager_bytes;
    ready_at_[here] = time;
    if (step.op == Op::send) {
      if (!is_long) return push(time, rank, id, Job::step);
      if (arrives_at_[here] != kUnknown) push(std::max(time, arrives_at_[here]), rank, id, Job::step);
      return;
    }
    if (is_long) return push(time, rank, id, Job::announce);
    if (arrives_at_[here] != kUnknown) push(std::max(time, arrives_at_[here]), rank, id, Job::receive);
  }

  std::span<const Schedule> schedules_;
  const CostModel& model_;
  Pairing pairing_;
  std::vector<Cpu> cpus_;
  std::vector<Host> hosts_;
  std::vector<Way> nics_, uplinks_;        // by host; by uplink of the placement
  std::vector<Part> parts_;                // of the message at hand
  std::vector<Picoseconds> link_free_at_;  // by pair
  std::vector<Event> events_;              // a heap
  std::uint64_t order_ = 0;
  // By place of a step: what it still waits for; since when it waits for nothing; when the message of a
  // receive, or the announcement for a long send, is there.
  std::vector<std::uint32_t> waits_;
  std::vector<Picoseconds> ready_at_, arrives_at_;
  std::size_t done_ = 0;
  Picoseconds end_ = 0;
};

}  // namespace

Picoseconds cpu_time(const Step& step, Rank me, const CostModel& model) {
  const LocalCost& local = model.costs.local;
  if (step.op == Op::copy) return local.step_ps + time_of(step.length, local.copy_ps_per_kib);
  if (step.op == Op::reduce)
    return local.step_ps + time_of(step.length * std::max(1u, step.fan_in()), local.reduce_ps_per_kib);
  const LinkCost& link = model.link(me, step.peer);
  if (step.op == Op::send) return local.step_ps + link.send_ps + time_of(step.length, link.send_ps_per_kib);
  const Picoseconds receive = local.step_ps + link.recv_ps + time_of(step.length, link.recv_ps_per_kib);
  return step.op == Op::recv ? receive : receive + time_of(step.length, local.reduce_ps_per_kib);
}

Picoseconds simulate(std::span<const Schedule> schedules, const CostModel& model) {
  return Simulation(schedules, model).run();
}

}  // namespace strata
