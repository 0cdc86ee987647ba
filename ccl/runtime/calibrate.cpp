#include "ccl/runtime/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "ccl/base/log.hpp"
#include "ccl/planner/costs_text.hpp"
#include "ccl/planner/link_levels.hpp"
#include "ccl/runtime/cost_cache.hpp"
#include "ccl/runtime/measure_costs.hpp"
#include "ccl/topology/rates.hpp"

namespace strata {
namespace {

// What all ranks know once they have told each other.
struct Survey {
  Placement placement;
  LinkLevels links;
  bool measures = false;
  MeasuredCosts known;
};

// "CORES shm|tcp\n", and rank 0 goes on with its mode and what it knows.
std::string introduction(Rank me, std::string_view mode, const Surroundings& here,
                         const MeasuredCosts& known) {
  std::string text = fmt::format("{} {}\n", here.cores, here.shm ? "shm" : "tcp");
  if (me == 0) text += fmt::format("{}\n{}", mode.empty() ? "auto" : mode, to_text(known));
  return text;
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

// What the file says of the levels that there are, and is not known from elsewhere.
void add_stated(const topology::Topology& stated, const LinkLevels& links, MeasuredCosts& known) {
  for (const LinkLevels::Level& level : links.levels) {
    const topology::PairCost* cost = topology::cost_of(stated, level.name, medium_of(level.kind));
    if (cost == nullptr) continue;
    LinkTimes times = usual_times(level.kind, level.cost);
    if (cost->latency_ps > 0) times.message_ps = static_cast<double>(cost->latency_ps);
    if (cost->rate > 0) times.ps_per_kib = static_cast<double>(ps_per_kib_at(cost->rate));
    known.set(level.name, level.kind, link_cost(level.kind, times, level.cost));
  }
}

Expected<Survey> survey(Exchange& exchange, std::string_view mode, const Surroundings& here,
                        const MeasuredCosts& known) {
  const auto texts = exchange.all_gather(introduction(exchange.rank(), mode, here, known));
  if (!texts) return texts.status();
  Survey survey;
  survey.placement.host = here.where.host;
  survey.placement.within = LinkKind::shm;
  std::string_view agreed;
  for (std::size_t r = 0; r < texts->size(); ++r) {
    std::string_view rest = (*texts)[r];
    const std::string_view line = next_line(rest);
    int cores = 1;
    std::from_chars(line.data(), line.data() + line.size(), cores);
    if (survey.placement.host[r] == static_cast<int>(survey.placement.cores.size()))
      survey.placement.cores.push_back(std::max(1, cores));
    if (line.ends_with("tcp")) survey.placement.within = LinkKind::tcp_local;
    if (r != 0) continue;
    agreed = next_line(rest);
    survey.measures = agreed != "off" && add_text(rest, survey.known);
  }
  survey.links = link_levels(here.where.natural, survey.placement.host, survey.placement.within);
  if (agreed != "always") add_stated(here.where.stated, survey.links, survey.known);
  return survey;
}

bool is_known(const MeasuredCosts& known, const LinkLevels::Level& level) {
  return known.find(level.name, level.kind) != nullptr;
}

// What this rank finds out for the others.
Expected<MeasuredCosts> measure(Exchange& exchange, Communicator& communicator, const Survey& survey) {
  MeasuredCosts found;
  if (exchange.rank() == 0 && !survey.known.local) {
    found.local_cost = measure_local(found.local_cost);
    found.local = true;
  }
  for (std::size_t i = 0; i < survey.links.levels.size(); ++i) {
    const LinkLevels::Level& level = survey.links.levels[i];
    const auto [low, high] = pair_of(survey.links, i);
    const Rank me = exchange.rank();
    if (is_known(survey.known, level) || (me != low && me != high)) continue;
    const auto times = measure_link(communicator, me == low ? high : low, level.kind,
                                    std::max(1u, exchange.milliseconds_left()));
    if (!times) return times.status();
    if (me == low) found.set(level.name, level.kind, link_cost(level.kind, *times, level.cost));
  }
  return found;
}

bool complete(const Survey& survey) {
  const auto& levels = survey.links.levels;
  return survey.known.local && std::all_of(levels.begin(), levels.end(), [&](const LinkLevels::Level& level) {
           return is_known(survey.known, level);
         });
}

// What all have found. '+' and that, or '-' and why nothing was.
Expected<MeasuredCosts> share(Exchange& exchange, const Expected<MeasuredCosts>& mine) {
  MeasuredCosts found;
  const auto all =
      exchange.all_gather(mine ? "+" + to_text(*mine) : "-" + std::string(mine.status().message()));
  if (!mine) return mine.status();
  if (!all) return all.status();
  for (std::size_t r = 0; r < all->size(); ++r) {
    const std::string& text = (*all)[r];
    if (!text.starts_with('+') || !add_text(std::string_view(text).substr(1), found))
      return Status(ErrorCode::unavailable, fmt::format("rank {} could not measure its links: {}", r,
                                                        text.substr(std::min<std::size_t>(1, text.size()))));
  }
  return found;
}

// What holds for this machine whatever the job.
void keep(const CostCache& cache, const LinkLevels& links, const MeasuredCosts& found) {
  MeasuredCosts kept = cache.read();  // other levels and kinds stay
  for (const LinkLevels::Level& level : links.levels)
    if (const LinkCost* cost = found.find(level.name, level.kind);
        cost != nullptr && level.kind != LinkKind::tcp)
      kept.set(level.name, level.kind, *cost);
  if (found.local) kept.local_cost = found.local_cost, kept.local = true;
  cache.write(kept);
}

// NICs carry no more than is stated of the fastest of them; of slower hosts the placement says so.
Picoseconds least_wire(const Whereabouts& where) {
  topology::BitsPerSecond most = 0;
  for (std::size_t host = 0; host < where.stated.hosts.size(); ++host) {
    const auto rate = topology::host_rate(where.stated, static_cast<int>(host));
    if (rate == 0) return 0;
    most = std::max(most, rate);
  }
  return ps_per_kib_at(most);
}

CostModel model_of(Survey survey, const Whereabouts& where) {
  const Picoseconds least = least_wire(where);
  for (LinkLevels::Level& level : survey.links.levels) {
    if (const LinkCost* cost = survey.known.find(level.name, level.kind)) {
      level.cost = *cost;
      level.measured = true;
    }
    if (level.kind == LinkKind::tcp) level.cost.wire_ps_per_kib = std::max(level.cost.wire_ps_per_kib, least);
  }
  std::vector<std::string> names(survey.placement.cores.size());
  for (std::size_t r = 0; r < where.places.size(); ++r)
    names[static_cast<std::size_t>(where.host[r])] = where.places[r].host;
  add_shares(where.stated, where.topology, names, survey.links, survey.placement);
  CostModel model{default_costs(), std::move(survey.placement), nullptr, nullptr};
  model.costs.local = survey.known.local_cost;
  if (topology::has_structure(where.levels))
    model.levels = std::make_shared<const topology::Hierarchy>(where.levels);
  model.links = std::make_shared<const LinkLevels>(std::move(survey.links));
  return model;
}

// This host's, for the key of what is kept.
CostCache cache_of(const Whereabouts& where, Rank me) {
  const std::string& name = where.places[static_cast<std::size_t>(me)].host;
  for (const topology::Host& host : where.topology.hosts)
    if (host.name == name && host.machine != topology::kNone)
      return cost_cache_of(where.topology.machines[static_cast<std::size_t>(host.machine)]);
  return cost_cache_of({});
}

}  // namespace

Expected<CostModel> calibrate(Exchange& exchange, Communicator& communicator, std::string_view mode,
                              const Surroundings& here) {
  CostCache cache;
  MeasuredCosts known;
  if (exchange.rank() == 0 && mode != "off") cache = cache_of(here.where, 0);
  if (exchange.rank() == 0 && mode != "off" && mode != "always") known = cache.read();
  Expected<Survey> found = survey(exchange, mode, here, known);
  if (!found) return found.status();
  if (found->measures && !complete(*found)) {
    const auto all = share(exchange, measure(exchange, communicator, *found));
    if (!all) return all.status();
    if (exchange.rank() == 0) keep(cache, found->links, *all);
    (void)add_text(to_text(*all), found->known);
  }
  log::debug("costs of links (ps: send, receive, way, 1 KiB sent, received, on the wire, a turn; level):\n{}",
             to_text(found->known));
  return model_of(*std::move(found), here.where);
}

}  // namespace strata
