// From a communicator that can send to what its links cost, the same on all ranks.
#pragma once
#include <string_view>

#include "ccl/planner/cost_model.hpp"
#include "ccl/runtime/whereabouts.hpp"
#include "ccl/transport/transport.hpp"
#include "strata/communicator.hpp"

namespace strata {

// What a rank knows of the job before it is compared with what the others know.
struct Surroundings {
  const Whereabouts& where;
  int cores = 1;    // that this host's ranks may use
  bool shm = true;  // this rank reaches the others of its host through shared memory
};

// Collective over the exchange. What links of a level cost is taken from, in this order: the topology file;
// rank 0's cache (mode auto); what a pair of ranks of that level measures (not off); the built-in costs. Rank
// 0 keeps what belongs to its machine: links between hosts are measured for each job. mode:
// CommunicatorOptions::calibrate; that of rank 0 counts, and `always` has everything measured. Error: a rank
// was lost meanwhile.
Expected<CostModel> calibrate(Exchange& exchange, Communicator& communicator, std::string_view mode,
                              const Surroundings& here);

}  // namespace strata
