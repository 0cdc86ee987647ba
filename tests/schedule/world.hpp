// All ranks' programs of one call, and what they become.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ccl/algorithms/algorithm.hpp"
#include "ccl/algorithms/verify_request.hpp"
#include "ccl/schedule/lower.hpp"

namespace strata::test {

using Programs = std::vector<Program>;
using Schedules = std::vector<Schedule>;
using Requests = std::vector<Request>;

inline Requests same_on_all(const Request& request, int size) {
  return Requests(static_cast<std::size_t>(size), request);
}
using Levels = std::shared_ptr<const topology::Hierarchy>;
Programs build_all(const Algorithm& algorithm, const Requests& requests, const Tuning& tuning,
                   Levels levels = nullptr);
// abilities(me, peer); what it says of message_bytes_max must be symmetric.
using Abilities = std::function<WireAbilities(Rank me, Rank peer)>;
Programs lower_all(const Programs& programs, std::uint64_t element_bytes, const Abilities& abilities);
Schedules derive_all(const Programs& programs);

// "all_reduce by ring, 3 ranks, count 7, ..."
std::string describe(const Algorithm& algorithm, const Requests& requests, const Tuning& tuning);

}  // namespace strata::test
