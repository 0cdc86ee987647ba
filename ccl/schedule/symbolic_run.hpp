// Executes the schedules of all ranks on symbols instead of data.
#pragma once
#include <random>
#include <utility>
#include <vector>

#include "ccl/schedule/expression.hpp"
#include "ccl/schedule/memory_map.hpp"

namespace strata {

// A step of one rank.
struct Place {
  Rank rank = kNoRank;
  StepId step = 0;
};

// Everything the run needs; checked before.
struct World {
  std::span<const Schedule> schedules;
  const Specification& specification;
  std::vector<MemoryMap> maps;
  std::vector<std::vector<Touched>> touched;
  std::vector<std::vector<Place>> other_end;  // of wire steps

  const Step& step(Place p) const { return schedules[static_cast<std::size_t>(p.rank)].steps[p.step]; }
};

class SymbolicRun final {
 public:
  // seed: the order in which steps that are ready run; 0: first come, first served.
  SymbolicRun(const World& world, std::uint64_t seed);
  Verdict run();
  // After run() was ok: do the outputs hold what they must?
  Verdict check_results();

 private:
  // One element: where in the inputs it comes from, and how.
  struct Symbol {
    ExpressionId expression = kUndefined;
    std::uint32_t position = 0;
  };
  struct RankState {
    std::vector<Symbol> memory;
    std::vector<std::uint32_t> waits;
    std::vector<bool> posted;              // wire steps that are ready
    std::vector<std::vector<bool>> heard;  // barrier: the ranks known to have begun when a step ends
    std::vector<bool> heard_in_the_end;
  };

  RankState& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
  const Touched& touched(Place p) const { return world_.touched[static_cast<std::size_t>(p.rank)][p.step]; }
  void fill_inputs(Rank rank);
  Place take_ready();
  Verdict advance(Place place);
  Verdict transfer(Place send, Place receive);
  Verdict execute_local(Place place);
  Verdict reduce_local(Place place);
  void complete(Place place);
  void hear(Place from, Place to);
  Verdict add(Place place, Symbol a, Symbol b, bool wide, std::uint64_t element, Symbol& result);
  Verdict finish(Place place, std::uint64_t element, Symbol& symbol);
  Verdict check_run(Rank rank, const Run& run);
  Verdict check_element(Rank rank, const Run& run, std::uint64_t i, Symbol got);
  Verdict stuck() const;

  const World& world_;
  Expressions expressions_;
  std::vector<RankState> states_;
  std::vector<Place> ready_;
  std::size_t next_ready_ = 0;
  bool shuffled_;
  std::mt19937_64 random_;
  std::vector<ExpressionId> agreed_;  // equal_everywhere: what rank 0 has
};

}  // namespace strata
