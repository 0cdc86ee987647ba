// From ranks that have met to ranks that can talk: chooses and connects the transports.
#pragma once
#include <memory>
#include <string>

#include "ccl/runtime/router.hpp"
#include "ccl/transport/transport.hpp"
#include "strata/options.hpp"
#include "strata/status.hpp"

namespace strata {

// Collective over the exchange. Every pair uses the first transport of (shm, tcp), or of options.transport,
// that both have and that reaches; a rank's way to itself is always there. Error, the same on all ranks:
// which pair has none and why, or which rank could not connect.
Expected<std::unique_ptr<Router>> connect_all(Exchange& exchange, const CommunicatorOptions& options,
                                              Listener& listener);

}  // namespace strata
