// What is told of a rank's work to its timeline and its counters. Costs a load and a branch while nobody
// wants to know.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "ccl/runtime/counters.hpp"
#include "ccl/schedule/step.hpp"
#include "ccl/trace/recorder.hpp"
#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata {

struct CommunicatorState;
struct Operation;
struct Run;
struct Submission;
struct WireOp;

class Observer final {
 public:
  // Any thread.
  void record_to(trace::Recorder* recorder) { recorder_.store(recorder, std::memory_order_release); }
  // From here on there are figures. peers: how each rank of the job is reached.
  void count(std::vector<PeerClass> peers);
  const Counters& counters() const { return counters_; }
  void turned(bool worked) const {
    if (counting()) [[unlikely]]
      counters_.turn(worked);
  }
  void fell_asleep() const {
    if (counting()) [[unlikely]]
      asleep_since_ns_ = trace::monotonic_ns();
  }
  void woke_up() const;
  trace::Recorder* recorder() const { return recorder_.load(std::memory_order_relaxed); }

  void submitted(const Submission& s) const {
    if (auto* r = recorder()) [[unlikely]]
      record_submitted(*r, s);
    if (counting()) [[unlikely]]
      count_submitted(s);
  }
  void refused(const Submission& s, ErrorCode why) const {
    if (auto* r = recorder()) [[unlikely]]
      record_refused(*r, s, why);
    if (counting()) [[unlikely]]
      count_refused(s);
  }
  void started(const Operation& o, const Submission& s) const {
    if (auto* r = recorder()) [[unlikely]]
      record_started(*r, o, s);
    if (counting()) [[unlikely]]
      count_started(o);
  }
  // One that was submitted and has not been started: its message was there at once.
  void unneeded(const Submission& s) const {
    if (counting()) [[unlikely]]
      count_unneeded(s);
  }
  void ended(const Operation& o, ErrorCode how) const {
    if (auto* r = recorder()) [[unlikely]]
      record_ended(*r, o, how);
    if (counting()) [[unlikely]]
      count_ended(o, how);
  }
  void posted(const Run& run, StepId step) const {
    if (auto* r = recorder()) [[unlikely]]
      record_message(*r, trace::Kind::posted, run, step);
  }
  // well: its bytes have moved.
  void completed(const Run& run, StepId step, bool well) const {
    if (auto* r = recorder()) [[unlikely]]
      record_message(*r, trace::Kind::completed, run, step);
    if (well && counting()) [[unlikely]]
      count_message(run, step);
  }

  // A moment, for what is recorded when it has ended; 0: nobody wants to know.
  std::uint64_t now() const {
    const auto* r = recorder();
    return r == nullptr ? 0 : r->now();
  }
  void step(const Run& run, const Step& step, std::uint64_t since) const {
    if (auto* r = recorder(); r != nullptr && since != 0) [[unlikely]]
      record_step(*r, run, step, since);
  }
  void waited(std::uint64_t since) const {
    if (auto* r = recorder(); r != nullptr && since != 0) [[unlikely]]
      record_wait(*r, since);
  }
  // A whole operation on common memory, or a message (peer: of the job) without an operation.
  void at_once(Collective collective, const CommunicatorState& communicator, std::uint64_t number, Rank peer,
               std::uint64_t bytes, std::uint64_t since) const {
    if (auto* r = recorder(); r != nullptr && since != 0) [[unlikely]]
      record_at_once(*r, collective, communicator, number, peer, bytes, since);
    if (counting()) [[unlikely]]
      count_at_once(collective, communicator, peer, bytes);
  }

 private:
  static void record_submitted(trace::Recorder& to, const Submission& submission);
  static void record_refused(trace::Recorder& to, const Submission& submission, ErrorCode why);
  static void record_started(trace::Recorder& to, const Operation& operation, const Submission& submission);
  static void record_ended(trace::Recorder& to, const Operation& operation, ErrorCode how);
  static void record_message(trace::Recorder& to, trace::Kind kind, const Run& run, StepId step);
  static void record_step(trace::Recorder& to, const Run& run, const Step& step, std::uint64_t since);
  static void record_wait(trace::Recorder& to, std::uint64_t since);
  static void record_at_once(trace::Recorder& to, Collective collective,
                             const CommunicatorState& communicator, std::uint64_t number, Rank peer,
                             std::uint64_t bytes, std::uint64_t since);

  bool counting() const { return counting_.load(std::memory_order_acquire); }
  void count_submitted(const Submission& submission) const;
  void count_refused(const Submission& submission) const;
  void count_unneeded(const Submission& submission) const;
  void count_started(const Operation& operation) const;
  void count_ended(const Operation& operation, ErrorCode how) const;
  void count_message(const Run& run, StepId step) const;
  void count_at_once(Collective collective, const CommunicatorState& communicator, Rank peer,
                     std::uint64_t bytes) const;

  std::atomic<trace::Recorder*> recorder_{nullptr};
  std::atomic<bool> counting_{false};
  std::vector<PeerClass> peers_;
  // Whoever is observed does not change by it.
  mutable Counters counters_;
  mutable std::uint64_t asleep_since_ns_ = 0;
};

}  // namespace strata
