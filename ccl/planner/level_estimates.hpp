// Levels and their links, for people.
#pragma once
#include <vector>

#include "ccl/planner/cost_model.hpp"
#include "strata/estimate.hpp"

namespace strata {

// Of a model without links: none.
std::vector<LevelEstimate> level_estimates(const CostModel& model);

}  // namespace strata
