// Measures the links of a job, for a topology file.
#pragma once
#include <functional>
#include <string>

#include "ccl/topology/topology.hpp"
#include "strata/options.hpp"
#include "strata/status.hpp"

namespace strata {

// Of each level at most so many pairs of ranks measure, one after the other.
inline constexpr std::size_t kProbedPairsMax = 8;

// Joins the job and measures the links of each level of its ranks; the same result on all of them. It is the
// topology file that options name, or else what was discovered, with the median cost of each level's pairs.
// progress: gets a line for each level on rank 0. Errors: as of Communicator::create(); invalid_argument, the
// job has one rank; what a link fails with, the same on all ranks.
Expected<topology::Topology> probe(CommunicatorOptions options,
                                   const std::function<void(const std::string&)>& progress);

}  // namespace strata
