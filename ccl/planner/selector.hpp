// Which algorithm serves a call: a pure function of what all ranks know, so they agree without talking.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "ccl/algorithms/algorithm.hpp"
#include "ccl/planner/choice_cache.hpp"
#include "ccl/planner/cost_model.hpp"
#include "strata/status.hpp"

namespace strata {

struct Choice {
  const Algorithm* algorithm = nullptr;
  Tuning tuning;
  friend bool operator==(const Choice&, const Choice&) = default;
};

struct Candidate {
  Choice choice;
  Picoseconds predicted_ps = 0;
};

// Of one communicator. Any thread. The algorithm with the least predicted time is taken, if that is less by a
// margin than what fixed bounds of size would take. Times are compared at the beginning of quarter octaves of
// size, so that each has to be simulated once.
class Selector final {
 public:
  // With more ranks a simulation takes too long for a call. Then the fixed bounds decide.
  static constexpr int kSimulatedRanksMax = 32;

  explicit Selector(CostModel model);

  // `wanted` forces an algorithm by name where the catalog has it for this collective; empty selects.
  // `required`: the name comes from this very call, so it is an error (invalid_argument, naming the choices)
  // if the algorithm does not exist or does not support the request; otherwise (a communicator's default) it
  // is passed over.
  Expected<Choice> select(const Request& request, std::string_view wanted, bool required) const;
  // What it is selected from, with the time of each at this very size, the chosen one first, then by time.
  // Simulates whatever the number of ranks.
  Expected<std::vector<Candidate>> explain(const Request& request, std::string_view wanted) const;

  const CostModel& model() const { return model_; }

 private:
  std::vector<Choice> choices(const Request& request) const;
  Choice cheapest(const Request& request, const std::vector<Choice>& all) const;

  const CostModel model_;
  const Group group_;  // as one of its ranks sees it
  const std::unique_ptr<ChoiceCache> cache_;
};

}  // namespace strata
