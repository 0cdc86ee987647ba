// Ranks in one thread, and messages among them that check themselves: the driver of the conformance suite.
#pragma once
#include <chrono>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "tests/transport/instances.hpp"

namespace strata::test {

// One message: the memory and the outcome of both sides. An op's memory is freed when it completes, so that a
// transport that touches it later is caught.
struct Parcel {
  Rank from = 0, to = 0;
  std::uint64_t id = 0;
  Tag tag;
  WireKind kind = WireKind::recv;  // or recv_reduce
  std::uint8_t element_bytes = 1;
  std::int32_t priority = 0;
  bool in_place = false;             // recv_reduce: the addend is the target
  std::size_t misalignment = 0;      // of all memory
  std::uint64_t length = 0;          // of the send
  std::uint64_t receive_length = 0;  // differs for a mismatch only
  Fingerprint fingerprint, receive_fingerprint;

  std::vector<std::byte> source, target, addend;
  bool send_posted = false, receive_posted = false;
  std::optional<Completion> sent, received;
  bool ended() const { return (!send_posted || sent) && (!receive_posted || received); }
  bool arrived() const { return received && received->error == ErrorCode::ok; }
};

struct Told {
  Rank peer;
  Tag tag;
  Fingerprint theirs;
};

class TestListener final : public Listener {
 public:
  Verdict unexpected(Rank peer, const Tag& tag, const Fingerprint& theirs) override;
  std::vector<Told> told;
  std::vector<CancelScope> dead;  // discarded
  bool is_dead(Rank peer, const Tag& tag) const;
};

class World final {
 public:
  World(const Instance& instance, int ranks, std::uint64_t seed = 1);

  const Instance& instance() const { return instance_; }
  int ranks() const { return static_cast<int>(ends_.size()); }
  Transport& at(Rank rank) { return *ends_[static_cast<std::size_t>(rank)]; }
  bool lives(Rank rank) const { return ends_[static_cast<std::size_t>(rank)] != nullptr; }
  TestListener& listener(Rank rank) { return listeners_[static_cast<std::size_t>(rank)]; }
  std::mt19937_64& random() { return random_; }
  std::uint64_t pick(std::uint64_t from, std::uint64_t to) {
    return std::uniform_int_distribution<std::uint64_t>(from, to)(random_);
  }

  // A new message, with a tag of its own in the communicator. Change what should differ before posting it.
  Parcel& parcel(Rank from, Rank to, std::uint64_t length, std::uint32_t communicator = 1);
  // From here on half of the ops, by the seed, are tried at once before they are posted.
  void try_some_at_once() { tries_at_once_ = true; }
  std::uint64_t done_at_once() const { return done_at_once_; }
  void post_send(Parcel& parcel);
  void post_receive(Parcel& parcel);
  void post_both(Parcel& parcel) {
    post_receive(parcel);
    post_send(parcel);
  }

  void step();           // every rank polls once, in an order and with room for completions by the seed
  void poll(Rank rank);  // one of them alone
  void steps(int count) {
    while (count-- > 0) step();
  }
  // Steps until the condition holds. false: it does not, long after it should.
  template <class Condition>
  bool run(Condition condition) {
    last_end_ = Clock::now();
    while (!condition()) {
      if (!step_before_deadline()) return false;
    }
    return true;
  }
  bool run_to_end() {  // until all that was posted by ranks that live has ended
    return run([this] { return pending_ == 0; });
  }
  void cancel(Rank rank, const CancelScope& scope);
  void cancel(Rank rank, std::uint32_t communicator) { cancel(rank, CancelScope{communicator}); }
  void kill(Rank rank);

  std::deque<Parcel>& parcels() { return parcels_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool step_before_deadline();
  void give(Rank rank, const WireOp& op);
  void end(Rank rank, const Completion& completion);
  void check_received(const Parcel& parcel, std::uint64_t id);

  const Instance instance_;
  std::mt19937_64 random_;
  std::deque<TestListener> listeners_;
  std::deque<Parcel> parcels_;  // before ends_: their destruction may still touch them
  Ends ends_;
  std::vector<Rank> order_;
  std::size_t pending_ = 0;  // ops of living ranks
  bool tries_at_once_ = false;
  std::uint64_t done_at_once_ = 0;
  std::uint64_t steps_ = 0;
  Clock::time_point last_end_;
};

// Fails the test unless it can still move messages of all kinds between the two.
void check_works(World& world, Rank a, Rank b, std::uint32_t communicator);

}  // namespace strata::test
