// A program and its derived order: what the executor runs, the verifier proves and the simulator costs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/schedule/program.hpp"

namespace strata {

struct Schedule {
  std::vector<Step> steps;           // program order; it is a topological order
  std::vector<std::uint32_t> waits;  // waits[s]: how many steps must complete before s may start
  std::vector<std::uint32_t>
      first_dependent;             // dependents of s: [first_dependent[s], first_dependent[s + 1])
  std::vector<StepId> dependents;  // of all steps, concatenated
  std::vector<StepId> roots;       // the steps with waits[s] == 0, in program order
  // message[s] of a wire step: channel << 24 | index among the steps of the same peer, direction and channel,
  // in program order. The i-th send of a lane meets the i-th receive of it by this number, whatever arrives
  // first.
  std::vector<std::uint32_t> message;
  std::uint64_t scratch_bytes = 0;

  std::span<const StepId> dependents_of(StepId s) const {
    return {dependents.data() + first_dependent[s], dependents.data() + first_dependent[s + 1]};
  }
};

// Steps wait for the steps whose bytes they read, and for those that read or write the bytes they write.
// Edges implied by others through the same bytes are left out. O(n log n) in the number of steps.
Schedule derive(const Program& program);

}  // namespace strata
