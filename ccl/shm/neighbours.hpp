// The ranks of this host that this rank shares memory with: how to wake each, and the memory that they have
// passed each other.
//
// Regions are passed on demand: the owner shares one under a key, and the peer finds it under (owner, key) as
// soon as it has arrived. Nobody waits for anybody here.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/shm/doorbell.hpp"
#include "ccl/shm/mapping.hpp"
#include "strata/status.hpp"
#include "strata/types.hpp"

namespace strata::shm {

// What a region's key says it is for; the lower bits are the owner's choice.
inline constexpr std::uint64_t kGroupKey = std::uint64_t{1} << 63;   // | communicator
inline constexpr std::uint64_t kMemoryKey = std::uint64_t{1} << 62;  // | allocation

// Memory of a peer, mapped here as long as somebody holds it.
struct Region {
  Mapping memory;
  std::uint64_t length = 0;
};

// One thread at a time, the owner of the transport.
class Neighbours final {
 public:
  // The descriptors and words stay valid as long as this object.
  struct Link {
    Rank peer = kNoRank;
    Doorbell bell;
    int socket = -1;
  };
  explicit Neighbours(std::vector<Link> links);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  bool has(Rank peer) const { return link(peer) != nullptr; }
  // The doorbell of a neighbour.
  Doorbell bell(Rank peer) const { return link(peer)->bell; }

  // Passes the memory file to a neighbour, once: later calls with the same key do nothing. The file may be
  // closed afterwards. A neighbour that is gone is passed over.
  void share(Rank peer, std::uint64_t key, const Fd& file, std::uint64_t bytes);
  // The peers that were given it let go of it.
  void withdraw(std::uint64_t key);
  // Forgets a key that was shared: it may be used again for something else. The peers keep what they have.
  void retire(std::uint64_t key);
  // Lets go of what a neighbour has shared, if it has.
  void drop(Rank owner, std::uint64_t key);
  // Sends what a full socket held back. false: some is still waiting; call again soon.
  bool flush();
  // What a neighbour has shared; null: it has not arrived. An error: it cannot be mapped here.
  Expected<std::shared_ptr<const Region>> find(Rank owner, std::uint64_t key);
  // The same, and leaves it to the caller: the key may be used for something else.
  Expected<std::shared_ptr<const Region>> take(Rank owner, std::uint64_t key);

  // Reads what has arrived from a neighbour. Error: the connection has ended, or brought nonsense.
  Status receive(Rank peer);

 private:
  struct Message;
  struct Outgoing;
  struct Peer {
    Link link;
    std::deque<Outgoing> waiting;  // while its socket is full
    std::vector<std::uint64_t> given;
    std::map<std::uint64_t, Expected<std::shared_ptr<const Region>>> regions;
    Status ended;
  };

  const Link* link(Rank peer) const;
  Peer* find_peer(Rank peer);
  void send(Peer& peer, const Message& message, const Fd* file);
  void flush(Peer& peer);
  static void accept(Peer& peer, const Message& message, Fd file);

  std::vector<std::unique_ptr<Peer>> by_rank_;
  std::size_t waiting_ = 0;  // messages, for all peers
};

}  // namespace strata::shm
