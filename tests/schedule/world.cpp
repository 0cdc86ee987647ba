// Builds, lowers and derives for all ranks.
#include "tests/schedule/world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::test {

Programs build_all(const Algorithm& algorithm, const Requests& requests, const Tuning& tuning,
                   Levels levels) {
  const int size = static_cast<int>(requests.size());
  Programs programs(requests.size());
  for (int me = 0; me < size; ++me)
    algorithm.build(programs[static_cast<std::size_t>(me)], requests[static_cast<std::size_t>(me)],
                    whole_group(size, me, levels), tuning);
  return programs;
}

Programs lower_all(const Programs& programs, std::uint64_t element_bytes, const Abilities& abilities) {
  Programs lowered;
  for (std::size_t me = 0; me < programs.size(); ++me)
    lowered.push_back(lower(programs[me], element_bytes,
                            [&](Rank peer) { return abilities(static_cast<Rank>(me), peer); }));
  return lowered;
}

Schedules derive_all(const Programs& programs) {
  Schedules schedules;
  for (const Program& program : programs) schedules.push_back(derive(program));
  return schedules;
}

std::string describe(const Algorithm& algorithm, const Requests& requests, const Tuning& tuning) {
  const Request& r = requests[0];
  std::string in_place;
  for (const Request& each : requests) in_place += each.in_place ? '1' : '0';
  return fmt::format(
      "{} by {}, {} ranks, {} {}, count {}, counts {}, root {}, in place {}, {} channels, segments of {}",
      to_string(algorithm.collective), algorithm.name, requests.size(), to_string(r.type), to_string(r.op),
      r.count, r.counts, r.root, in_place, tuning.channels, tuning.segment_bytes);
}

}  // namespace strata::test
