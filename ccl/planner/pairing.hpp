// Which send meets which receive, in the schedules of all ranks.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/schedule/schedule.hpp"

namespace strata {

class Pairing final {
 public:
  // Every message must have both its ends, as the verifier proves of programs.
  explicit Pairing(std::span<const Schedule> schedules);

  // The steps of all ranks in a row: how many, and where one is.
  std::size_t steps() const { return partner_.size(); }
  std::size_t place(Rank rank, StepId step) const { return first_[static_cast<std::size_t>(rank)] + step; }
  // The other end of a wire step, a step of its peer.
  StepId partner(Rank rank, StepId step) const { return partner_[place(rank, step)]; }

 private:
  std::vector<std::size_t> first_;  // by rank
  std::vector<StepId> partner_;     // by place
};

}  // namespace strata
