// The algorithms by name: what each file exports to the catalog.
#pragma once
#include "ccl/algorithms/algorithm.hpp"

namespace strata {

using Build = void(Program&, const Request&, const Group&, const Tuning&);

// Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
Build ring_all_reduce, ring_reduce_scatter, ring_all_gather;

}  // namespace strata
