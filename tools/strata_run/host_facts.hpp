// What strata-run must know of this host before it can plan.
#pragma once
#include <cstdint>

namespace strata::run {

int usable_cores();  // those that this process may run on
// A loopback port that nobody uses at this moment; 0: none was found.
std::uint16_t free_port();

}  // namespace strata::run
