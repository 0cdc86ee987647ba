// What strata-run must know of this host before it can plan.
#pragma once
#include <cstdint>
#include <vector>

namespace strata::run {

std::vector<int> usable_cores();  // the numbers of those that this process may run on, ascending
// A loopback port that nobody uses at this moment; 0: none was found.
std::uint16_t free_port();

}  // namespace strata::run
