// From a communicator that can send to what its links cost, the same on all ranks.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ccl/planner/cost_model.hpp"
#include "ccl/transport/transport.hpp"
#include "strata/communicator.hpp"

namespace strata {

// What a rank knows of the job before it is compared with what the others know.
struct Surroundings {
  std::span<const std::string> host_ids;  // of all ranks
  int cores = 1;                          // that this host's ranks may use
  bool shm = true;                        // this rank reaches the others of its host through shared memory
};

// Collective over the exchange. Rank 0's cache (mode auto) or the built-in costs (off) serve all; what is
// missing is measured by one pair of ranks for each kind of link there is, and kept by rank 0 if it belongs
// to its machine: links between hosts are measured for each job. mode: CommunicatorOptions::calibrate; that
// of rank 0 counts. Error: a rank was lost meanwhile.
Expected<CostModel> calibrate(Exchange& exchange, Communicator& communicator, std::string_view mode,
                              const Surroundings& here);

}  // namespace strata
