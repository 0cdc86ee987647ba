// What a call costs by one algorithm.
#pragma once
#include "ccl/algorithms/algorithm.hpp"
#include "ccl/planner/cost_model.hpp"

namespace strata {

// The time of a call on all ranks of the model, out of place. Data of more than a few segments is not
// simulated in full: from there on time grows as between the last two sizes that are. Pure; the request's
// counts, if it has some, are taken as equal shares of their sum.
Picoseconds predict(const Algorithm& algorithm, const Request& request, const Tuning& tuning,
                    const CostModel& model);

// A bound that takes less to find: the work of the root, or of the first rank, alone. No prediction is below
// it.
Picoseconds least_time(const Algorithm& algorithm, const Request& request, const Tuning& tuning,
                       const CostModel& model);

// Bytes of the whole data a collective is about: what sizes are compared with.
std::uint64_t data_bytes(const Request& request, int size);
// The same call, out of place, of about so many bytes in all, in equal shares.
Request with_bytes(const Request& request, std::uint64_t bytes, int size);

}  // namespace strata
