// On which host of this job's lab a rank runs; without a lab all that are started here run on this one.
#pragma once
#include "tools/strata_run/options.hpp"

namespace strata::run {

struct Place {
  int host = 0;  // of the lab
  int local_rank = 0;
  int local_size = 1;
};

// started: the number of a rank among those that are started here. Pure.
Place place_of(const Options& options, int started);

}  // namespace strata::run
