#include "ccl/runtime/observer.hpp"

#include <numeric>
#include <utility>

#include "ccl/runtime/operation.hpp"

namespace strata {
namespace {

using trace::Kind;
using trace::Record;
using trace::Recorder;

trace::Way way_of(Collective collective, bool local) {
  if (collective == Collective::send) return trace::Way::send;
  if (collective == Collective::recv) return trace::Way::receive;
  return local ? trace::Way::shared_memory : trace::Way::algorithm;
}

Rank job_rank(const CommunicatorState& communicator, Rank peer) {
  return peer == kNoRank ? kNoRank : communicator.ranks[static_cast<std::size_t>(peer)];
}

Collective collective_of(const Submission& s) {
  return s.point_to_point() ? s.direction : static_cast<Collective>(s.fingerprint.collective);
}

// The larger of a call's two buffers, as strata-perf counts. bytes: of `count` elements.
std::uint64_t larger_buffer(Collective collective, std::uint64_t bytes,
                            const CommunicatorState& communicator) {
  switch (collective) {
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter: return bytes * static_cast<std::uint64_t>(communicator.size());
    default: return bytes;
  }
}

std::uint64_t bytes_of(const Submission& s, const CommunicatorState& communicator) {
  const std::uint64_t element = size_of(static_cast<DataType>(s.fingerprint.type));
  if (s.request.counts.empty())
    return larger_buffer(collective_of(s), s.fingerprint.count * element, communicator);
  return element * std::accumulate(s.request.counts.begin(), s.request.counts.end(), std::uint64_t{0});
}

// now: the operation's is that of this moment.
Record record_of(std::uint64_t now, std::uint32_t communicator, std::uint64_t operation, Rank peer) {
  Record r;
  r.time = now;
  r.of.operation = operation;
  r.communicator = communicator;
  r.peer = peer;
  return r;
}

Record record_of(Recorder& to, const Submission& s, const CommunicatorState& communicator) {
  return record_of(to.now(), communicator.id, s.number, job_rank(communicator, s.peer));
}

}  // namespace

void Observer::record_submitted(Recorder& to, const Submission& s) {
  Record r = record_of(to, s, *s.communicator);
  r.of.bytes = bytes_of(s, *s.communicator);
  r.what = static_cast<std::uint8_t>(collective_of(s));
  r.detail = static_cast<std::uint32_t>(s.priority);
  to.add(Kind::submitted, r);
}

void Observer::record_refused(Recorder& to, const Submission& s, ErrorCode why) {
  Record r = record_of(to, s, *s.communicator);
  r.what = static_cast<std::uint8_t>(why);
  r.detail = static_cast<std::uint32_t>(way_of(collective_of(s), s.local));
  to.add(Kind::ended, r);
}

void Observer::record_started(Recorder& to, const Operation& o, const Submission& s) {
  Record r = record_of(to, s, *o.communicator);
  const trace::Way way = way_of(o.collective, s.local);
  r.what = static_cast<std::uint8_t>(way);
  if (way == trace::Way::algorithm)
    r.detail = static_cast<std::uint32_t>(s.choice.algorithm - catalog().data());
  to.add(Kind::started, r);
}

void Observer::record_ended(Recorder& to, const Operation& o, ErrorCode how) {
  Record r = record_of(to.now(), o.communicator->id, o.number, job_rank(*o.communicator, o.peer));
  r.what = static_cast<std::uint8_t>(how);
  r.detail = static_cast<std::uint32_t>(way_of(o.collective, o.local != nullptr));
  to.add(Kind::ended, r);
}

void Observer::record_message(Recorder& to, Kind kind, const Run& run, StepId id) {
  const Step& step = run.plan->schedule.steps[id];
  Record r = record_of(to.now(), run.tag.communicator, run.tag.operation,
                       run.ranks[static_cast<std::size_t>(step.peer)]);
  r.of.bytes = step.length;
  r.what =
      static_cast<std::uint8_t>(step.op == Op::send ? trace::Direction::send : trace::Direction::receive);
  r.detail = run.plan->schedule.message[id];
  to.add(kind, r);
}

void Observer::record_step(Recorder& to, const Run& run, const Step& step, std::uint64_t since) {
  Record r = record_of(since, run.tag.communicator, run.tag.operation, kNoRank);
  r.of.duration = to.now() - since;
  r.of.bytes = step.length;
  r.what = static_cast<std::uint8_t>(step.op == Op::copy ? trace::Local::copy : trace::Local::reduce);
  to.add(Kind::step, r);
}

void Observer::record_wait(Recorder& to, std::uint64_t since) {
  Record r;
  r.time = since;
  r.of.duration = to.now() - since;
  to.add(Kind::wait, r);
}

void Observer::record_at_once(Recorder& to, Collective collective, const CommunicatorState& communicator,
                              std::uint64_t number, Rank peer, std::uint64_t bytes, std::uint64_t since) {
  Record r = record_of(since, communicator.id, number, peer);
  r.of.duration = to.now() - since;
  r.of.bytes = larger_buffer(collective, bytes, communicator);
  r.what = static_cast<std::uint8_t>(collective);
  to.add(Kind::at_once, r);
}

void Observer::count(std::vector<PeerClass> peers) {
  peers_ = std::move(peers);
  counting_.store(true, std::memory_order_release);
}

void Observer::woke_up() const {
  if (asleep_since_ns_ == 0) return;
  counters_.slept(trace::monotonic_ns() - asleep_since_ns_);
  asleep_since_ns_ = 0;
}

void Observer::count_submitted(const Submission& s) const { counters_.submitted(s.priority); }

void Observer::count_refused(const Submission& s) const {
  counters_.ended(collective_of(s), false);
  counters_.left(s.priority);
}

void Observer::count_unneeded(const Submission& s) const { counters_.left(s.priority); }

void Observer::count_started(const Operation& o) const { counters_.started(o.collective); }

void Observer::count_ended(const Operation& o, ErrorCode how) const {
  counters_.ended(o.collective, how == ErrorCode::ok);
  counters_.left(o.run.priority);
  if (o.local) counters_.sent(PeerClass::shared_memory, bytes_of(*o.local, *o.communicator));
}

void Observer::count_message(const Run& run, StepId id) const {
  const Step& step = run.plan->schedule.steps[id];
  const Rank peer = run.ranks[static_cast<std::size_t>(step.peer)];
  const PeerClass way = peers_[static_cast<std::size_t>(peer)];
  step.op == Op::send ? counters_.sent(way, step.length) : counters_.received(way, step.length);
}

void Observer::count_at_once(Collective collective, const CommunicatorState& communicator, Rank peer,
                             std::uint64_t bytes) const {
  counters_.started(collective);
  counters_.ended(collective, true);
  if (peer == kNoRank)
    return counters_.sent(PeerClass::shared_memory, larger_buffer(collective, bytes, communicator));
  const PeerClass way = peers_[static_cast<std::size_t>(peer)];
  collective == Collective::send ? counters_.sent(way, bytes) : counters_.received(way, bytes);
}

}  // namespace strata
