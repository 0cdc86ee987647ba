// Times a collective in samples: a barrier, then calls one after another on the same buffers.
#pragma once
#include <vector>

#include "tools/strata_perf/call.hpp"
#include "tools/strata_perf/options.hpp"
#include "tools/strata_perf/sampling.hpp"
#include "tools/strata_perf/workspace.hpp"
#include "tools/strata_perf/world.hpp"

namespace strata::perf {

struct Samples {
  SamplingPlan plan;
  std::vector<double> times_us;  // of one call, on the slowest rank; one a sample
};

// Owned by the main thread. Uses slot 0 of the workspace, which is arranged for the call.
class Sampler final {
 public:
  Sampler(World& world, Workspace& workspace, const Options& options, Call call)
      : world_(world), workspace_(workspace), options_(options), call_(call) {}

  // Collective. bytes: the size of the call.
  Expected<Samples> run(std::uint64_t bytes);

 private:
  Expected<double> estimate_us();
  Expected<double> sample_us(int calls, bool touched);

  World& world_;
  Workspace& workspace_;
  const Options& options_;
  Call call_;  // its root goes round from call to call, so that no root runs ahead of the others
};

}  // namespace strata::perf
