// Who the other ranks are, in words, and how they stand.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "ccl/runtime/communicator_state.hpp"

namespace strata {

struct Peer {
  std::string host;
  int pid = 0;
  bool lost = false;          // no connection any more
  bool said_goodbye = false;  // it ended in order
  bool saw_goodbye = false;   // it has read all we sent
};

// "rank 2 (host node1, pid 4711)": by its number in `communicator`.
inline std::string name_of(const CommunicatorState& communicator, int index, const std::vector<Peer>& peers) {
  const Peer& p = peers[static_cast<std::size_t>(communicator.ranks[static_cast<std::size_t>(index)])];
  return fmt::format("rank {} (host {}, pid {})", index, p.host, p.pid);
}

}  // namespace strata
