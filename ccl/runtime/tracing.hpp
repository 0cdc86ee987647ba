// The timeline of a job: begun with its first communicator, written by rank 0 after the last.
#pragma once
#include <string>
#include <vector>

#include "ccl/runtime/communicator_impl.hpp"
#include "ccl/transport/transport.hpp"

namespace strata {

struct TraceSettings {
  std::string path;                // rank 0's, absolute
  std::uint64_t bytes = 0;         // of this rank's part
  std::vector<std::string> hosts;  // names, of each rank
  std::vector<int> clocks;         // of each rank, a number: those with the same one have one clock
};

// Collective, when the engine is at work. What goes wrong is a warning, and then nothing is recorded.
void begin_tracing(Exchange& exchange, const Communicator::Impl& first, TraceSettings settings);

}  // namespace strata
