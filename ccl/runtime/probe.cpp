#include "ccl/runtime/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ccl/planner/link_levels.hpp"
#include "ccl/runtime/communicator_impl.hpp"
#include "ccl/runtime/measure_costs.hpp"
#include "ccl/topology/quantity.hpp"

namespace strata {
namespace {

constexpr unsigned kPatience = 20;  // about 50 ms a pair, where links are fast

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string us_text(double ps) { return fmt::format("{:.3g} us", ps / kPicosecondsPerMicrosecond); }
std::string rate_text(double ps_per_kib) {
  return topology::rounded_rate(rate_at(static_cast<Picoseconds>(std::llround(ps_per_kib))));
}

// What all pairs of one level have found.
struct Found {
  std::vector<double> message_ps, ps_per_kib;

  std::string text(const LinkLevels::Level& level) const {
    const auto [nearest, farthest] = std::minmax_element(message_ps.begin(), message_ps.end());
    const auto [fastest, slowest] = std::minmax_element(ps_per_kib.begin(), ps_per_kib.end());
    std::string text = fmt::format("{} over {}: {}, {}", level.name, medium_of(level.kind),
                                   us_text(median(message_ps)), rate_text(median(ps_per_kib)));
    if (message_ps.size() == 1) return text;
    return text + fmt::format(" (of {} pairs: {} to {}, {} to {})", message_ps.size(), us_text(*nearest),
                              us_text(*farthest), rate_text(*slowest), rate_text(*fastest));
  }
  topology::PairCost cost(const LinkLevels::Level& level) const {
    return {level.name, std::string(medium_of(level.kind)),
            static_cast<std::int64_t>(std::llround(median(message_ps))),
            rate_at(std::max<Picoseconds>(1, std::llround(median(ps_per_kib))))};
  }
};

// Collective: the pair measures while the others wait to hear of it.
Status measure_pair(Communicator& communicator, std::pair<Rank, Rank> pair, LinkKind kind,
                    std::uint32_t timeout_ms, Found& found) {
  const auto [low, high] = pair;
  const Rank me = communicator.rank();
  std::array<double, 2> times{};
  if (me == low || me == high) {
    const auto measured = measure_link(communicator, me == low ? high : low, kind, timeout_ms, kPatience);
    if (!measured) return measured.status();
    times = {measured->message_ps, measured->ps_per_kib};
  }
  if (Status s = communicator.broadcast(times.data(), times.data(), 2, DataType::float64, low).wait();
      !s.ok())
    return s;
  found.message_ps.push_back(times[0]);
  found.ps_per_kib.push_back(times[1]);
  return {};
}

void set_cost(topology::Topology& topology, const topology::PairCost& cost) {
  std::erase_if(topology.costs, [&](const topology::PairCost& known) {
    return known.level == cost.level && known.medium == cost.medium;
  });
  topology.costs.push_back(cost);
}

}  // namespace

Expected<topology::Topology> probe(CommunicatorOptions options,
                                   const std::function<void(const std::string&)>& progress) {
  if (options.size == 1)
    return Status(ErrorCode::invalid_argument,
                  "a job of one rank has no links; start more, as in: strata-run -n 4 -- strata-topo probe");
  options.calibrate = "off";
  const auto impl = create_impl(options);
  if (!impl) return impl.status();
  Communicator communicator(*impl);
  const Whereabouts& where = *(*impl)->state->where;
  const LinkLevels& links = *(*impl)->state->selector->model().links;
  topology::Topology topology = where.stated.hosts.empty() ? where.topology : where.stated;
  for (std::size_t i = 0; i < links.levels.size(); ++i) {
    Found found;
    for (const auto& pair : pairs_of(links, i, kProbedPairsMax))
      if (Status s = measure_pair(communicator, pair, links.levels[i].kind, options.timeout_ms, found);
          !s.ok())
        return s;
    set_cost(topology, found.cost(links.levels[i]));
    if (options.rank == 0)
      progress(fmt::format("level {} of {}: {}", i + 1, links.levels.size(), found.text(links.levels[i])));
  }
  // Nobody leaves before all have heard of the last pair.
  if (Status s = communicator.barrier().wait(); !s.ok()) return s;
  return topology;
}

}  // namespace strata
