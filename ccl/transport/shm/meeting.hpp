// How ranks of one host meet: over local sockets they prove that they belong to the job and pass each other
// the descriptors of their segment and doorbell.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/transport/shm/segment.hpp"
#include "ccl/transport/transport.hpp"

namespace strata::shm {

// What one has of a peer afterwards.
struct Neighbour {
  Rank peer = kNoRank;
  PeerRing ring;  // of its segment, for what I write
  Fd doorbell;    // its eventfd
  Fd socket;      // open as long as the peer's transport is: its end is the peer's end
  Fd process;     // pidfd, where the system has it: children that the peer forked keep its socket open
};

// What I offer: ring i is for peers[i].
struct Offer {
  const Fd& listener;
  const Segment& segment;
  const Fd& doorbell;
};

// socket_names[i]: of peers[i]. One entry for each of peers, in their order.
Expected<std::vector<Neighbour>> meet(Exchange& exchange, const Offer& offer, std::span<const Rank> peers,
                                      std::span<const std::string> socket_names);

}  // namespace strata::shm
