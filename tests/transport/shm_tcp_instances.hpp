// Shared memory and TCP, as the conformance suite runs them.
#pragma once
#include "tests/transport/instances.hpp"

namespace strata::test {

std::vector<Instance> shm_tcp_instances();

}  // namespace strata::test
