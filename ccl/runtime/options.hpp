// Checks what a communicator was told, before anything is opened.
#pragma once
#include "ccl/base/environment.hpp"
#include "strata/options.hpp"
#include "strata/status.hpp"

namespace strata {

// ok, or invalid_argument that names the field, its value and what it may be. Pure. Names of algorithms and
// interfaces are not looked at: who knows them checks them.
Status validate(const CommunicatorOptions& options);

// What CommunicatorOptions::from_environment() does, on any environment.
Expected<CommunicatorOptions> options_from(const Environment& environment);

// Sets the log's level to STRATA_LOG, if it is there.
Status configure_log(const Environment& environment);

}  // namespace strata
