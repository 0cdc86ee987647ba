// How the ranks of a job find each other: a rendezvous at rank 0, authenticated by the job's secret.
#pragma once
#include <memory>

#include "ccl/transport/transport.hpp"
#include "strata/options.hpp"
#include "strata/status.hpp"

namespace strata {

// Blocks until all ranks have joined or options.rendezvous_timeout_ms has passed. options have been validated
// (0 <= rank < size, rendezvous not empty unless size is 1). One rank needs no rendezvous and no socket.
// The Exchange stays connected until destroyed; a rank that dies meanwhile fails the others' next all_gather,
// naming it. Errors: timeout (names the missing ranks), unauthenticated, mismatch (sizes differ, a rank came
// twice; naming hosts and pids), unavailable.
Expected<std::unique_ptr<Exchange>> join(const CommunicatorOptions& options);

}  // namespace strata
