// What was predicted, beside what was measured.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/strata_perf/measure.hpp"

namespace strata::perf {

// Which collective of the library is measured; nothing for what is none, or has uneven counts.
std::optional<Collective> collective_of(const TestCase& test);

// Lines for people, each begun by # and ended; nothing for no candidates, of which the first is the chosen
// one. Before the measurement: the predictions. After it: beside what was measured, and how good the choice
// was if others were measured too.
std::string before_text(std::uint64_t bytes, const std::vector<Explained>& candidates);
std::string after_text(const std::vector<Explained>& candidates);

// How the ranks sit, and what links between them cost; nothing for no levels.
std::string levels_text(const std::vector<LevelEstimate>& levels);

// Measures, with predictions before and after it; all_of_them: every candidate that can be had by its name.
// `print` gets the lines. Collective.
class Explainer final {
 public:
  using Print = void (*)(const std::string&);
  Explainer(World& world, Meter& meter, bool all_of_them, Print print)
      : world_(world), meter_(meter), all_of_them_(all_of_them), print_(print) {}
  Expected<Row> measure(const Measurement& what);

 private:
  Expected<std::vector<Explained>> candidates(const Measurement& what) const;
  Status measure_others(const Measurement& what, Row& row);

  World& world_;
  Meter& meter_;
  const bool all_of_them_;
  const Print print_;
};

}  // namespace strata::perf
