// Predicts how long schedules take, without running them.
#pragma once
#include <span>

#include "ccl/planner/cost_model.hpp"
#include "ccl/schedule/schedule.hpp"

namespace strata {

// The time at which the last rank is done, if all begin at 0: schedules[r], derived and lowered, is that of
// rank r of the model. Pure, and the same everywhere: whole numbers in a fixed order.
//
// A rank does one thing at a time, in the order in which things can be done. Its cores are shared by the
// ranks of its host. A message takes the CPU of both ends and, between hosts, what sends at one NIC, what
// receives at the other, and the uplinks on its way, each at its own rate; these overlap but for a grain. A
// message longer than eager_bytes starts when the sender has heard that its receive is posted. O(m log m) for
// m steps of all ranks, plus O(n^2) for n ranks. LogGP: Alexandrov, Ionescu, Schauser, Scheiman: LogGP:
// Incorporating Long Messages into the LogP Model, 1995.
Picoseconds simulate(std::span<const Schedule> schedules, const CostModel& model);

// The CPU time of a step by itself on rank `me`, announcements apart. No rank is done before the sum of its
// steps.
Picoseconds cpu_time(const Step& step, Rank me, const CostModel& model);

}  // namespace strata
