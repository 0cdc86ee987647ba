#include "ccl/runtime/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ccl/base/log.hpp"
#include "ccl/planner/costs_text.hpp"
#include "ccl/runtime/cost_cache.hpp"
#include "ccl/runtime/measure_costs.hpp"

namespace strata {
namespace {

// Two ranks that measure one kind of link.
struct Team {
  LinkKind kind;
  Rank low, high;
};

// What all ranks know once they have told each other.
struct Survey {
  Placement placement;
  bool measures = false;
  MeasuredCosts known;
};

// Hosts get their numbers in the order of their lowest ranks.
std::vector<int> number_hosts(std::span<const std::string> ids) {
  std::unordered_map<std::string_view, int> seen;
  std::vector<int> host;
  for (const std::string& id : ids)
    host.push_back(seen.try_emplace(id, static_cast<int>(seen.size())).first->second);
  return host;
}

// "CORES shm|tcp\n", and rank 0 goes on with whether to measure and what is known.
std::string introduction(Rank me, std::string_view mode, const Surroundings& here,
                         const MeasuredCosts& known) {
  std::string text = fmt::format("{} {}\n", here.cores, here.shm ? "shm" : "tcp");
  if (me == 0) text += fmt::format("{}\n{}", mode == "off" ? "off" : "measure", to_text(known));
  return text;
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

Expected<Survey> survey(Exchange& exchange, std::string_view mode, const Surroundings& here,
                        const MeasuredCosts& known) {
  const auto texts = exchange.all_gather(introduction(exchange.rank(), mode, here, known));
  if (!texts) return texts.status();
  Survey survey;
  survey.placement.host = number_hosts(here.host_ids);
  survey.placement.within = LinkKind::shm;
  for (std::size_t r = 0; r < texts->size(); ++r) {
    std::string_view rest = (*texts)[r];
    const std::string_view line = next_line(rest);
    int cores = 1;
    std::from_chars(line.data(), line.data() + line.size(), cores);
    if (survey.placement.host[r] == static_cast<int>(survey.placement.cores.size()))
      survey.placement.cores.push_back(std::max(1, cores));
    if (line.ends_with("tcp")) survey.placement.within = LinkKind::tcp_local;
    if (r == 0) survey.measures = next_line(rest) == "measure" && add_text(rest, survey.known);
  }
  return survey;
}

std::vector<Team> teams(const Placement& placement) {
  std::vector<Team> all;
  const std::vector<int>& host = placement.host;
  const auto size = static_cast<Rank>(host.size());
  std::vector<Rank> first(placement.cores.size(), kNoRank);  // rank of each host
  std::optional<Team> within;
  for (Rank r = 0; r < size && !within; ++r) {
    Rank& low = first[static_cast<std::size_t>(host[static_cast<std::size_t>(r)])];
    if (low == kNoRank)
      low = r;
    else
      within = Team{placement.within, low, r};
  }
  if (within) all.push_back(*within);
  const auto other = std::find_if(host.begin(), host.end(), [&](int h) { return h != host[0]; });
  if (other != host.end()) all.push_back({LinkKind::tcp, 0, static_cast<Rank>(other - host.begin())});
  return all;
}

// What this rank finds out for the others.
Expected<MeasuredCosts> measure(Exchange& exchange, Communicator& communicator, const Survey& survey) {
  MeasuredCosts found;
  if (exchange.rank() == 0 && !survey.known.local) {
    found.costs.local = measure_local(found.costs.local);
    found.local = true;
  }
  for (const Team& team : teams(survey.placement)) {
    const Rank me = exchange.rank();
    if (survey.known.has(team.kind) || (me != team.low && me != team.high)) continue;
    const auto times = measure_link(communicator, me == team.low ? team.high : team.low,
                                    std::max(1u, exchange.milliseconds_left()));
    if (!times) return times.status();
    if (me == team.low) found.set(team.kind, link_cost(team.kind, *times, found.costs.of(team.kind)));
  }
  return found;
}

bool complete(const Survey& survey) {
  const auto all = teams(survey.placement);
  return survey.known.local &&
         std::all_of(all.begin(), all.end(), [&](const Team& t) { return survey.known.has(t.kind); });
}

// '+' and what was found, or '-' and why nothing was.
Expected<MeasuredCosts> share(Exchange& exchange, const Expected<MeasuredCosts>& mine, MeasuredCosts known) {
  const auto all =
      exchange.all_gather(mine ? "+" + to_text(*mine) : "-" + std::string(mine.status().message()));
  if (!mine) return mine.status();
  if (!all) return all.status();
  for (std::size_t r = 0; r < all->size(); ++r) {
    const std::string& text = (*all)[r];
    if (!text.starts_with('+') || !add_text(std::string_view(text).substr(1), known))
      return Status(ErrorCode::unavailable, fmt::format("rank {} could not measure its links: {}", r,
                                                        text.substr(std::min<std::size_t>(1, text.size()))));
  }
  return known;
}

}  // namespace

Expected<CostModel> calibrate(Exchange& exchange, Communicator& communicator, std::string_view mode,
                              const Surroundings& here) {
  CostCache cache;
  MeasuredCosts known;
  if (exchange.rank() == 0 && mode != "off") cache = cost_cache_of_this_machine();
  if (exchange.rank() == 0 && mode != "off" && mode != "always") known = cache.read();
  Expected<Survey> found = survey(exchange, mode, here, known);
  if (!found) return found.status();
  if (found->measures && !complete(*found)) {
    const auto all = share(exchange, measure(exchange, communicator, *found), found->known);
    if (!all) return all.status();
    found->known = *all;
    if (exchange.rank() == 0) {
      MeasuredCosts kept = cache.read();  // other kinds of link stay
      (void)add_text(to_text(*all), kept);
      kept.links.reset(static_cast<std::size_t>(LinkKind::tcp));
      cache.write(kept);
    }
  }
  log::debug("costs of links (ps: send, receive, way, 1 KiB sent, received, on the wire, a turn):\n{}",
             to_text(found->known));
  return CostModel{found->known.costs, found->placement};
}

}  // namespace strata
