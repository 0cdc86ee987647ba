// How ranks connect by TCP: the lower of each pair calls the higher, and both prove that they belong to the
// job.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/transport/tcp/listening.hpp"
#include "ccl/transport/tcp/tcp_descriptor.hpp"
#include "ccl/transport/transport.hpp"

namespace strata::tcp {

struct Connection {
  Rank peer = kNoRank;
  std::uint32_t stream = 0;
  Fd socket;
  std::string name;  // "rank 3 (host b, 10.0.0.2:5000)"
  bool same_host = false;
};

// descriptors[r]: of rank r; only those of peers and of oneself matter. The connections to each of peers, in
// their order, and of one peer as many as both want (streams() of their descriptors). Errors: timeout (names
// who is missing and what happened), unauthenticated, unavailable.
Expected<std::vector<Connection>> meet(Exchange& exchange, std::span<ListeningSocket> listeners,
                                       std::span<const TcpDescriptor> descriptors,
                                       std::span<const Rank> peers);

}  // namespace strata::tcp
