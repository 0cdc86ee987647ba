#include "ccl/planner/predict.hpp"

#include <algorithm>
#include <numeric>

#include "ccl/planner/simulate.hpp"

namespace strata {
namespace {

// Of the whole data. Enough for a pipeline to be seen at work, few enough to be simulated within a call.
constexpr std::uint64_t kSegmentsSimulatedMax = 4;

bool in_parts(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::all_gather || c == Collective::all_to_all ||
         c == Collective::gather || c == Collective::scatter;
}

// Not lowered: segments are shorter than any limit of a transport whose cost is known, and all of those
// receive and reduce in one.
Picoseconds simulate_call(const Algorithm& algorithm, const Request& request, const Tuning& tuning,
                          const CostModel& model) {
  std::vector<Schedule> schedules;
  schedules.reserve(static_cast<std::size_t>(model.size()));
  Group group = whole_group(model.size(), 0, model.levels);
  for (; group.me < model.size(); ++group.me) {
    Program program;
    algorithm.build(program, request, group, tuning);
    schedules.push_back(derive(program));
  }
  return simulate(schedules, model);
}

// ((later - earlier) * bytes / step, without leaving 64 bits and never backwards.
Picoseconds growth(Picoseconds earlier, Picoseconds later, std::uint64_t bytes, std::uint64_t step) {
  if (step < 1024) return 0;
  const auto steps_in_kib = static_cast<Picoseconds>(step / 1024);
  return time_of(bytes, std::max<Picoseconds>(0, later - earlier) / steps_in_kib);
}

// time(request) itself, or what follows from it at less data.
template <class Time>
Picoseconds extrapolate(const Request& request, const Tuning& tuning, int size, Time&& time) {
  const std::uint64_t bytes = data_bytes(request, size), most = kSegmentsSimulatedMax * tuning.segment_bytes;
  if (bytes <= most) return time(with_bytes(request, bytes, size));
  const Picoseconds half = time(with_bytes(request, most / 2, size));
  const Picoseconds all = time(with_bytes(request, most, size));
  return all + growth(half, all, bytes - most, most / 2);
}

}  // namespace

std::uint64_t data_bytes(const Request& r, int size) {
  std::uint64_t elements = r.count;
  if (!r.counts.empty())
    elements = std::accumulate(r.counts.begin(), r.counts.end(), std::uint64_t{0});
  else if (in_parts(r.collective))
    elements = r.count * static_cast<std::uint64_t>(size);
  return elements * r.element_bytes();
}

Request with_bytes(const Request& r, std::uint64_t bytes, int size) {
  Request request;
  request.collective = r.collective;
  request.type = r.type;
  request.op = r.op;
  request.root = r.root;
  const std::uint64_t unit =
      r.element_bytes() * (in_parts(r.collective) ? static_cast<std::uint64_t>(size) : 1);
  request.count = bytes / unit + (bytes % unit != 0);
  return request;
}

Picoseconds predict(const Algorithm& algorithm, const Request& request, const Tuning& tuning,
                    const CostModel& model) {
  const Picoseconds time = extrapolate(request, tuning, model.size(), [&](const Request& r) {
    return simulate_call(algorithm, r, tuning, model);
  });
  // A rank that waits much at little data may wait less at more, which makes extrapolation too bold.
  return std::max(time, least_time(algorithm, request, tuning, model));
}

Picoseconds least_time(const Algorithm& algorithm, const Request& request, const Tuning& tuning,
                       const CostModel& model) {
  const Group group = whole_group(model.size(), std::max(0, request.root), model.levels);
  return extrapolate(request, tuning, model.size(), [&](const Request& r) {
    Program program;
    algorithm.build(program, r, group, tuning);
    Picoseconds time = 0;
    for (const Step& step : program.steps()) time += cpu_time(step, group.me, model);
    return time;
  });
}

}  // namespace strata
