// Asks the verifier whether schedules do what a request means.
#pragma once
#include "ccl/algorithms/algorithm.hpp"
#include "ccl/schedule/verify.hpp"

namespace strata {

// requests[r]: how rank r made the call. They agree in all but in_place and all-to-all-v's counts.
Specification specify(std::span<const Request> requests);

// As ccl/schedule/verify.hpp says.
Verdict verify(std::span<const Schedule> schedules, std::span<const Request> requests,
               std::uint64_t seed = 0);

}  // namespace strata
