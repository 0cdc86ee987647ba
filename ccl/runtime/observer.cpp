#include "ccl/runtime/observer.hpp"

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

// The larger of a call's two buffers, as strata-perf counts; counts of v forms are added up.
std::uint64_t bytes_of(const Submission& s) {
  const std::uint64_t element = size_of(static_cast<DataType>(s.fingerprint.type));
  std::uint64_t count = s.fingerprint.count;
  if (!s.request.counts.empty()) {
    count = 0;
    for (const std::uint64_t c : s.request.counts) count += c;
    return count * element;
  }
  switch (collective_of(s)) {
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter: return count * element * static_cast<std::uint64_t>(s.communicator->size());
    default: return count * element;
  }
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
  r.of.bytes = bytes_of(s);
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
  r.of.bytes = bytes;
  r.what = static_cast<std::uint8_t>(collective);
  to.add(Kind::at_once, r);
}

}  // namespace strata
