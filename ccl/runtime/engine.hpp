// The heart of a process's part in a job: starts operations, moves them forward, ends them, well or badly.
// Owned by one thread at a time (driver.hpp); only the functions under "any thread" may be called by others.
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ccl/base/bounded_queue.hpp"
#include "ccl/runtime/call.hpp"
#include "ccl/runtime/control.hpp"
#include "ccl/runtime/driver.hpp"
#include "ccl/runtime/metrics_server.hpp"
#include "ccl/runtime/observer.hpp"
#include "ccl/runtime/operation.hpp"
#include "ccl/runtime/peers.hpp"
#include "ccl/runtime/watchdog.hpp"

namespace strata {

class Engine final : public Listener, private Driven, public std::enable_shared_from_this<Engine> {
 public:
  static constexpr std::size_t kSubmissionsMax = 1024;  // handed over and not yet started

  // The transports need their listener before they exist, so they are attached afterwards, once.
  Engine(Rank me, std::vector<Peer> peers);
  ~Engine() override;
  void attach(std::unique_ptr<Router> router, std::shared_ptr<CommunicatorState> first,
              DriverOptions options);

  // Any thread
  // ---------------------------------------------------------------------------------------------------
  void submit(std::unique_ptr<Submission> submission);
  // Does a small collective of ranks of one host within the call, if the engine is free and the others are
  // there: nothing is allocated or handed over then. Nothing: it goes the usual way.
  std::optional<Work> try_at_once(const std::shared_ptr<CommunicatorState>& communicator, const Call& call,
                                  const CallOptions& options);
  // Sends a small message within the call, if the engine is free and the wire takes it. Nothing: it goes the
  // usual way.
  std::optional<Work> try_send_at_once(const std::shared_ptr<CommunicatorState>& communicator,
                                       const Call& call, const CallOptions& options);
  // For a caller that is going to wait for `work`: if nothing else is going on and its messages are small,
  // each is sent or taken from the wire as soon as it can be, for as long as it takes when nobody is late.
  // What is left then goes the usual way.
  void begin_waiting(const WorkState& work);
  // As Work::cancel().
  void cancel(const std::shared_ptr<WorkState>& work);
  bool drive(const std::function<bool()>& ended, Clock::time_point deadline) {
    return driver_->drive(ended, deadline);
  }
  void help() { driver_->help(); }
  // Runs `command` as the owner and waits for it.
  void command(const std::function<void()>& command);
  bool add(const std::shared_ptr<CommunicatorState>& communicator);  // false: its number is taken
  void forget(std::uint32_t communicator);  // undoes add() before anything was started
  // Ends its operations; tells the others. With the last communicator the engine ends too.
  void leave(const std::shared_ptr<CommunicatorState>& communicator);
  void abort(const std::shared_ptr<CommunicatorState>& communicator, const Status& why);
  Observer& observer() { return observer_; }
  // What is done when none but the library's own communicator for the timeline is left. It destroys that one.
  void at_the_end(std::function<void()> farewell);
  // Shows the counters for as long as the engine lives.
  void show_by(std::unique_ptr<MetricsServer> server) { metrics_ = std::move(server); }
  const std::vector<Peer>& peers() const { return peers_; }
  Rank me() const { return me_; }

  // Listener
  Verdict unexpected(Rank peer, const Tag& tag, const Fingerprint& theirs) override;

 private:
  friend class Watchdog;

  // Driven
  bool turn(Clock::time_point now) override;
  bool prepare_to_sleep() override;
  void woke_up() override;
  Clock::time_point next_check() const override;

  // engine.cpp
  bool start_submitted();
  void start(std::unique_ptr<Submission> submission);
  Operation* begin(Submission& submission);
  Operation& new_operation(Submission& submission);
  std::shared_ptr<const Plan> make_plan(const CommunicatorState& communicator, const Program& program,
                                        std::uint64_t element_bytes);
  std::shared_ptr<const Plan> plan_for(CommunicatorState& communicator, const Submission& submission);
  bool poll_transports();
  void handle(const Completion& completion);
  void end_if_done(Operation& operation);
  void end(Operation& operation);
  void publish_ended();
  // peer: of a message, the index; else kNoRank. null: not under way.
  Operation* find(std::uint32_t communicator, std::uint64_t number, Rank peer);

  // engine_local.cpp
  shm::Neighbours* neighbours_of(const CommunicatorState& communicator) const;
  void queue_local(Operation& operation, std::unique_ptr<Submission> submission);
  void start_local(Operation& operation, std::unique_ptr<Submission> submission);
  void make_group(CommunicatorState& communicator);
  void begin_local(CommunicatorState& communicator);
  void unqueue_local(Operation& operation);
  bool advance_local();
  bool advance_local(CommunicatorState& communicator);
  void forget_local(CommunicatorState& communicator);
  bool local_news() const;
  void tidy_groups();
  void tend_neighbours();
  std::string local_state(const Operation& operation) const;

  // engine_at_once.cpp
  bool may_begin_at_once(const CommunicatorState& communicator);
  Work finish_later(const std::shared_ptr<CommunicatorState>& communicator, const Call& call,
                    const CallOptions& options, std::uint64_t number);
  // What could not be done at once, under the number that it has: it cannot go the usual way any more.
  std::unique_ptr<Submission> numbered(const std::shared_ptr<CommunicatorState>& communicator,
                                       const Call& call, const CallOptions& options, std::uint64_t number);
  bool advance_at_once(ShmGroup& group) const;
  void look_round();

  // engine_message.cpp
  Work send_later(const std::shared_ptr<CommunicatorState>& communicator, const Call& call,
                  const CallOptions& options, std::uint64_t number);
  bool may_be_alone() const;
  bool receive_now(const Submission& submission);
  void run_now(Submission& submission);
  enum class Seen : std::uint8_t { nothing, some, all };
  template <class Look>
  void look_for_long(Look look);

  // engine_cancel.cpp
  static bool may_hold(const Operation& operation);
  void ask_to_cancel(Operation& operation, const Status& why);
  void deadline_passed(Operation& operation);
  void asked_to_cancel(CommunicatorState& communicator, Rank from, const ControlMessage& question);
  void refuse_to_cancel(Rank from, const ControlMessage& question);
  bool hold(CommunicatorState& communicator, std::uint64_t number, Rank peer, Rank asker);
  void answered_cancel(Operation& operation, Rank from, bool holds);
  void gone_while_asked(Rank peer);
  void decided_cancel(CommunicatorState& communicator, Rank from, const ControlMessage& decision);
  void decide_cancel(Operation& operation);
  void let_go(Operation& operation);
  void cancel_here(Operation& operation, const Status& why);
  void forget_messages(const CommunicatorState& communicator, std::uint64_t number, Rank peer);
  bool cancelled_early(Submission& submission);
  void hold_early(Operation& operation);

  // engine_failure.cpp
  void fail(CommunicatorState& communicator, const Status& why, bool tell_others);
  std::string activity(const CommunicatorState& communicator) const;
  void lose(Rank peer);
  void lost_during(const Operation& operation, Rank peer);
  void mismatch(const Operation& operation, Rank peer, const Completion& completion);
  void mismatch(CommunicatorState& communicator, Rank peer, std::uint64_t number, const Fingerprint& ours,
                const Fingerprint& theirs);
  Status cannot_start(const Submission& submission) const;
  void check_early(const Submission& submission);
  void tell_members(const CommunicatorState& communicator, const ControlMessage& message);
  std::vector<Rank> partners(
      const Operation& operation) const;  // all other ranks that it needs; the engine's
  void tell_partners(const Operation& operation, const ControlMessage& message);
  void apply_failures();

  // engine_control.cpp
  void handle(Rank from, const ControlMessage& message);
  void peer_left(CommunicatorState& communicator, Rank peer, std::uint64_t first_missed);
  static bool was_called(const CommunicatorState& communicator, std::uint64_t number, Rank peer);
  void answer(Rank to, const ControlMessage& probe);
  void leave_as_owner(CommunicatorState& communicator);
  void say_goodbye();
  void check_goodbyes();
  void shut_down();

  const Rank me_;
  std::vector<Peer> peers_;
  Observer observer_;
  std::function<void()> farewell_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Control> control_;
  std::unordered_map<std::uint32_t, std::shared_ptr<CommunicatorState>> communicators_;
  std::deque<Operation> operations_;  // by slot
  std::vector<std::uint32_t> free_, active_;
  std::vector<std::shared_ptr<CommunicatorState>> local_;       // whose groups are at work
  std::uint32_t passed_over_ = 0;                               // turns that less urgent groups were to have
  std::vector<std::uint32_t> untidy_;                           // communicators
  std::uint32_t at_once_ = 0;                                   // calls that were to be done at once
  std::uint64_t freed_seen_ = 0;                                // of Allocations
  std::array<Completion, kCompletionsPerPollMax> completions_;  // of the poll at hand
  std::uint64_t at_once_bytes_max_ = 0;                         // the least of the transports to others
  shm::Neighbours* neighbours_ = nullptr;                       // of the transport that has some; null: none
  Watchdog watchdog_;
  Clock::time_point now_;
  // Found while a transport was calling, where nothing may be failed yet.
  std::vector<std::function<void()>> failures_;
  struct Ended {
    std::shared_ptr<WorkState> work;
    Status status;
  };
  std::vector<Ended> ended_, publishing_;
  std::atomic<bool> goodbyes_done_{false};

  BoundedQueue<Submission*> submissions_;
  BoundedQueue<const std::function<void()>*> commands_;
  std::unique_ptr<Driver> driver_;          // its thread uses all of the above
  std::unique_ptr<MetricsServer> metrics_;  // so does its
};

}  // namespace strata
