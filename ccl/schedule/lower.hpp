// Rewrites a program for what a transport can do. List to list: order is derived afterwards.
#pragma once
#include <functional>

#include "ccl/schedule/program.hpp"

namespace strata {

struct WireAbilities {
  bool fused_recv_reduce = true;            // false: receive into scratch, then reduce
  std::uint64_t message_bytes_max = ~0ull;  // longer messages are cut; both ends of a pair must have the same
};

// abilities(peer) for the transport that serves it. element_bytes: cuts fall between elements.
Program lower(const Program& program, std::uint64_t element_bytes,
              const std::function<WireAbilities(Rank)>& abilities);

}  // namespace strata
