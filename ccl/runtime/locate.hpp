// Finding out together where the ranks of a job sit.
#pragma once
#include <string>
#include <vector>

#include "ccl/runtime/whereabouts.hpp"
#include "ccl/transport/transport.hpp"

namespace strata {

// Collective over the exchange. seats: what all ranks know of each other; GPUs are filled in here. topology:
// a file, or empty; levels: by hand, or empty; both must be the same on all ranks. The first rank of each
// host looks at its machine, if the file does not state it, and machines that are alike are told once. What
// cannot be discovered is left out, with a warning on that rank.
//
// Errors, the same on all ranks: those of whereabouts(); unavailable, a rank cannot read its file; mismatch,
// ranks were given different files or levels; those of parse_topology().
Expected<Whereabouts> locate(Exchange& exchange, std::vector<Seat> seats, const std::string& topology,
                             const std::string& levels);

}  // namespace strata
