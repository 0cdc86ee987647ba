// The job's secret: given, or made up.
#pragma once
#include <string>

#include "ccl/base/environment.hpp"
#include "strata/status.hpp"
#include "tools/strata_run/options.hpp"

namespace strata::run {

// From the file, else from STRATA_SECRET, else random for a job on one host.
// Error: the file cannot be read or is empty; several hosts and no secret. With the cure.
Expected<std::string> secret_of(const Options& options, const Environment& environment);

}  // namespace strata::run
