// Collectives on the memory that the ranks of a host have in common: one at a time for each communicator, in
// the order of their numbers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ccl/base/check.hpp"
#include "ccl/runtime/describe.hpp"
#include "ccl/runtime/engine.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kPassesMax = 64;  // so many turns in which a group is passed over, less one

GroupCall group_call(const Submission& s) {
  const auto type = static_cast<DataType>(s.fingerprint.type);
  const auto op = static_cast<ReduceOp>(s.fingerprint.op);
  const std::uint64_t element = size_of(type);
  return {.collective = s.request.collective,
          .input = static_cast<const std::byte*>(s.input),
          .output = static_cast<std::byte*>(s.output),
          .in_place = s.request.in_place,
          .count_bytes = s.request.count * element,
          .counts = s.request.counts,
          .element_bytes = element,
          .root = s.request.root,
          .reduce = reduce_many_kernel(type, op),
          .scale = s.scale,
          .mark = std::bit_cast<CallMark>(s.fingerprint)};
}

}  // namespace

// Of a communicator whose other members are all reached through shared memory.
shm::Neighbours* Engine::neighbours_of(const CommunicatorState& communicator) const {
  if (communicator.size() < 2 || communicator.size() > ShmGroup::kMembersMax) return nullptr;
  for (const Rank rank : communicator.ranks)
    if (rank != me_ && (neighbours_ == nullptr || !neighbours_->has(rank))) return nullptr;
  return neighbours_;
}

void Engine::queue_local(Operation& o, std::unique_ptr<Submission> submission) {
  o.local = std::move(submission);
  o.run.in_flight = 1;  // stands for the group's work: its plan has no steps
  if (o.communicator->local_queue.empty()) local_.push_back(o.communicator);
  o.communicator->local_queue.push_back(o.run.slot);
}

void Engine::start_local(Operation& o, std::unique_ptr<Submission> submission) {
  queue_local(o, std::move(submission));
  if (o.communicator->local_queue.size() == 1) begin_local(*o.communicator);
}

void Engine::make_group(CommunicatorState& c) {
  const bool shared_cores = driver_->yields();
  c.local_group = std::make_unique<ShmGroup>(
      *c.neighbours, c.ranks, c.me(), shm::kGroupKey | c.id,
      GroupOptions{.reads = c.reads_peers,
                   .reading_pays = shared_cores ? reading_pays_on_shared_cores : reading_pays,
                   .telling_pays = shared_cores ? telling_pays_on_shared_cores : telling_pays});
}

// Unless the first in the line is on hold, and those behind it wait.
void Engine::begin_local(CommunicatorState& c) {
  Operation& o = operations_[c.local_queue.front()];
  if (o.holds > 0) return;
  if (!c.local_group) make_group(c);
  c.local_group->begin(group_call(*o.local));
  o.group_at_work = true;
}

// One that the group has not begun.
void Engine::unqueue_local(Operation& o) {
  CommunicatorState& c = *o.communicator;
  const bool first = c.local_queue.front() == o.run.slot;
  std::erase(c.local_queue, o.run.slot);
  o.run.in_flight = 0;
  if (c.local_queue.empty())
    std::erase_if(local_, [&](const auto& one) { return one.get() == &c; });
  else if (first)
    begin_local(c);
}

// The more urgent first. While that has something to do, those less urgent have a turn now and then only.
bool Engine::advance_local() {
  const auto priority = [&](const auto& c) { return operations_[c->local_queue.front()].run.priority; };
  if (local_.size() > 1)
    std::sort(local_.begin(), local_.end(),
              [&](const auto& a, const auto& b) { return priority(a) > priority(b); });
  std::optional<std::int32_t> worked;  // the priority of the first that had something to do
  for (std::size_t i = 0; i < local_.size();) {
    const std::shared_ptr<CommunicatorState> communicator = local_[i];  // stays while it may fail
    const std::int32_t urgency = priority(communicator);
    if (worked && urgency < *worked && ++passed_over_ % kPassesMax != 0) break;
    if (advance_local(*communicator) && !worked) worked = urgency;
    if (i < local_.size() && local_[i] == communicator && !communicator->local_queue.empty())
      ++i;
    else if (i < local_.size() && local_[i] == communicator)
      forget_local(*communicator);
  }
  return worked.has_value();
}

bool Engine::advance_local(CommunicatorState& c) {
  Operation& o = operations_[c.local_queue.front()];
  if (!o.group_at_work) return false;
  ShmGroup& group = *c.local_group;
  using Progress = ShmGroup::Progress;
  const Progress progress = group.advance();
  if (progress == Progress::waits) return false;
  watchdog_.progressed(o, now_);
  if (progress == Progress::mismatch) {
    const auto theirs = std::bit_cast<Fingerprint>(group.their_mark());
    mismatch(c, c.ranks[static_cast<std::size_t>(group.whom())], o.number, o.run.fingerprint, theirs);
  } else if (progress == Progress::failed) {
    fail(c,
         {group.failure().code(),
          fmt::format("{}: shared memory: {}", name_of(c, c.me(), peers_), group.failure().message())},
         true);
  } else if (progress == Progress::ended) {
    c.local_queue.pop_front();
    o.run.in_flight = 0;
    end(o);
    if (!c.local_queue.empty())
      begin_local(c);
    else if (!group.tidy())
      untidy_.push_back(c.id);
  }
  return true;
}

// After a failure, or when the last one has ended.
void Engine::forget_local(CommunicatorState& c) {
  if (c.local_group) c.local_group->give_up();
  for (const std::uint32_t slot : c.local_queue) operations_[slot].run.in_flight = 0;
  c.local_queue.clear();
  std::erase_if(local_, [&](const auto& one) { return one.get() == &c; });
}

bool Engine::local_news() const {
  if (neighbours_ && !neighbours_->flush()) return true;
  for (const auto& communicator : local_)
    if (communicator->local_group && communicator->local_group->has_news()) return true;
  return false;
}

// Groups that others were still reading from when the last call ended.
void Engine::tidy_groups() {
  std::erase_if(untidy_, [&](std::uint32_t id) {
    const auto found = communicators_.find(id);
    return found == communicators_.end() || !found->second->local_group || found->second->local_group->tidy();
  });
}

// Passes on what is held back, and has peers let go of what was freed here.
void Engine::tend_neighbours() {
  neighbours_->flush();
  Allocations& allocations = Allocations::of_process();
  if (allocations.freed() == freed_seen_) return;
  const auto keys = allocations.freed_since(freed_seen_);
  freed_seen_ += keys.size();
  for (const std::uint64_t key : keys) neighbours_->withdraw(key);
}

// Where a group's call stands, for messages.
std::string Engine::local_state(const Operation& o) const {
  const CommunicatorState& c = *o.communicator;
  if (!o.group_at_work) return o.holds > 0 ? "on hold, to be cancelled" : "waiting for its turn";
  const ShmGroup& group = *c.local_group;
  const std::string whom =
      group.whom() < 0 ? "" : fmt::format(", waiting for {}", name_of(c, group.whom(), peers_));
  return fmt::format("in round {} of {}{}", group.round(), group.rounds(), whom);
}

}  // namespace strata
