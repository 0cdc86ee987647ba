// The list of all algorithms, and what each can do.
#include "ccl/algorithms/builds.hpp"

namespace strata {
namespace {

// Sums that pass through several ranks are rounded at each. Averages of narrow integers may not be: the sum
// must not overflow on the way (include/strata/types.hpp).
bool hops(const Request& r, const Group&) {
  return r.op != ReduceOp::average || !is_integer(r.type) || size_of(r.type) == 8;
}
bool always(const Request&, const Group&) { return true; }

constexpr Algorithm kCatalog[] = {
    {"ring", Collective::all_reduce, hops, ring_all_reduce},
    {"ring", Collective::reduce_scatter, hops, ring_reduce_scatter},
    {"ring", Collective::all_gather, always, ring_all_gather},
};

}  // namespace

std::span<const Algorithm> catalog() { return kCatalog; }

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : kCatalog)
    if (algorithm.collective == collective && algorithm.name == name) return &algorithm;
  return nullptr;
}

}  // namespace strata
