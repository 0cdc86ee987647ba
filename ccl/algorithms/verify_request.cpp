// From requests to the verifier's terms.
#include "ccl/algorithms/verify_request.hpp"

#include "ccl/base/check.hpp"

namespace strata {

Specification specify(std::span<const Request> requests) {
  STRATA_CHECK(!requests.empty());
  const Request& first = requests[0];
  Call call;
  call.collective = first.collective;
  call.size = static_cast<int>(requests.size());
  call.element_bytes = first.element_bytes();
  call.root = first.root;
  call.finish = first.reduces() && first.needs_finish();
  call.count = first.count;
  const bool varies = first.collective == Collective::all_to_all && !first.counts.empty();
  if (!varies) call.counts = first.counts;
  for (const Request& r : requests) {
    call.in_place.push_back(r.in_place);
    if (varies) call.sends.push_back(r.counts);
  }
  return specify(call);
}

Verdict verify(std::span<const Schedule> schedules, std::span<const Request> requests, std::uint64_t seed) {
  return verify(schedules, specify(requests), seed);
}

}  // namespace strata
