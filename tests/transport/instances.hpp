// The transports that the conformance suite runs on.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ccl/transport/transport.hpp"

namespace strata::test {

using Ends = std::vector<std::unique_ptr<Transport>>;

struct Instance {
  std::string name;
  // The connected ends of ranks 0 to listeners.size() - 1. All that is random in them comes from the seed.
  std::function<Ends(std::span<Listener* const> listeners, std::uint64_t seed)> make;
  std::uint64_t eager_bytes_max = 0;     // sends up to here may complete before their receive is posted
  std::uint64_t eager_window_bytes = 0;  // as long as they are no more than this together, one direction
  bool keeps_order = true;               // completions come in the order in which messages went
  bool moves_at_post = false;            // matched messages are done at once, so priorities decide nothing
  bool slow = false;                     // moves so little a poll that tests take fewer and shorter messages
  std::uint64_t flood_bytes = 1 << 20;   // more than can be on the way at once
};

std::vector<Instance> instances();

}  // namespace strata::test
