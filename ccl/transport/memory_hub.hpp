// Where the threads of one process meet: the messages of which one half has been posted, and each rank's
// completions.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/transport/factories.hpp"

namespace strata {

// Any thread may call anything: one mutex guards it all, copies included. That makes it the reference: an op
// is either not matched at all or done.
class MemoryHub final {
 public:
  MemoryHub(int size, Capabilities capabilities);
  MemoryHub(const MemoryHub&) = delete;
  MemoryHub& operator=(const MemoryHub&) = delete;

  int size() const { return static_cast<int>(ports_.size()); }
  const Capabilities& capabilities() const { return capabilities_; }
  int descriptor(Rank rank) const { return ports_[static_cast<std::size_t>(rank)].event.get(); }

  void attach(Rank rank);
  void detach(Rank rank);  // its own ops are forgotten; those of others with it end with peer_lost
  void post(Rank self, const WireOp& op);
  void cancel(Rank self, const CancelScope& scope);
  void ask(Rank self, Listener& listener);
  std::size_t take(Rank self, std::span<Completion> completions);
  bool prepare_to_sleep(Rank self);
  void woke_up(Rank self);
  bool gone(Rank rank) const;

 private:
  struct Route {
    Rank from, to;
    Tag tag;
    friend bool operator==(const Route&, const Route&) = default;
  };
  struct RouteHash {
    std::size_t operator()(const Route& route) const noexcept;
  };
  // The half of a message that came first.
  struct Half {
    WireOp op;
    bool asked = false;  // a send: the receiver's listener has been told of it
    bool sends() const { return op.kind == WireKind::send; }
  };
  enum class Presence : std::uint8_t { awaited, here, gone };
  struct Port {
    Presence presence = Presence::awaited;
    bool asleep = false;
    Fd event;
    std::deque<Completion> completions;
    std::deque<Route> strangers;  // sends to this rank of which its listener has not been told; may be stale
  };

  Port& port(Rank rank) { return ports_[static_cast<std::size_t>(rank)]; }
  void complete(Rank owner, const Completion& completion);
  void wake(Port& port);
  void pair(const Route& route, const WireOp& send, const WireOp& receive);

  const Capabilities capabilities_;
  mutable std::mutex mutex_;
  std::vector<Port> ports_;
  std::unordered_map<Route, Half, RouteHash> waiting_;
};

}  // namespace strata
