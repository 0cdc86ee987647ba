// Pipes between the ranks of one process: byte rings in plain memory, for testing what runs on pipes.
#pragma once
#include <cstdint>
#include <memory>

#include "ccl/transport/pipe.hpp"

namespace strata::test {

struct RingOptions {
  std::size_t ring_bytes = 4096;    // each direction of each pair
  std::uint64_t short_io_seed = 0;  // not 0: writes, peeks and reads move less than they could, by chance
  std::size_t streams = 1;          // to each peer; with short I/O, one overtakes the other
};

class RingNetwork;
std::shared_ptr<RingNetwork> make_ring_network(int ranks, RingOptions options);
// The pipes of one rank to all others. Its destruction closes them; what was written can still be read.
std::unique_ptr<PipeSet> make_ring_pipes(std::shared_ptr<RingNetwork> network, Rank rank);

}  // namespace strata::test
