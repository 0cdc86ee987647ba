// What a Communicator is made of: its engine, shared with those split from it, and its own state.
#pragma once
#include <memory>

#include "ccl/runtime/call.hpp"
#include "ccl/runtime/engine.hpp"
#include "strata/communicator.hpp"

namespace strata {

class Communicator::Impl final {
 public:
  Impl(std::shared_ptr<Engine> owner, std::shared_ptr<CommunicatorState> communicator)
      : engine(std::move(owner)), state(std::move(communicator)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { engine->leave(state); }

  // Checks, numbers and hands over a call; in a group, keeps it until the group ends.
  Work start(const Call& call, const CallOptions& options);

  const std::shared_ptr<Engine> engine;
  const std::shared_ptr<CommunicatorState> state;
};

// As Communicator::create().
Expected<std::shared_ptr<Communicator::Impl>> create_impl(const CommunicatorOptions& options);

// Numbers the submissions in order and gives them to the engine.
void hand_over(Engine& engine, std::unique_ptr<Submission> submission);
bool in_group();  // the calling thread
// Holds it back if the calling thread is in a group; false if it is not.
bool keep_for_group(const std::shared_ptr<Engine>& engine, std::unique_ptr<Submission>& submission);
// Leaves the calling thread's group out of account for its lifetime: what the library itself calls must run.
class GroupBypass final {
 public:
  GroupBypass();
  ~GroupBypass();
  GroupBypass(const GroupBypass&) = delete;
  GroupBypass& operator=(const GroupBypass&) = delete;

 private:
  const int depth_;
};

}  // namespace strata
