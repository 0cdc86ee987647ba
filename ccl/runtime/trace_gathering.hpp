// The ranks' clocks and records come together at rank 0, by messages of a communicator of their own.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ccl/trace/part.hpp"
#include "strata/communicator.hpp"

namespace strata {

// Collective. hosts: of each rank, a number; ranks of one have one clock. At rank 0: the offset of each
// rank's clock to its own now; elsewhere nothing.
Expected<std::vector<trace::ClockOffset>> measure_clocks(Communicator& communicator,
                                                         std::span<const int> hosts);

// Collective. Rank 0 gets the part of each rank in turn, its own first; one without records may be empty.
Status gather_parts(Communicator& communicator, trace::Part mine,
                    const std::function<void(trace::Part)>& take);

}  // namespace strata
