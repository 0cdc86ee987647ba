// The lines that explain a choice.
#include <fmt/format.h>

#include <algorithm>

#include "tools/strata_perf/byte_size.hpp"
#include "tools/strata_perf/explain.hpp"

namespace strata::perf {
namespace {

// Pieces are told only where they make a difference.
std::string name_of(const Explained& e, const std::vector<Explained>& all) {
  const auto same = std::count_if(all.begin(), all.end(), [&](const Explained& other) {
    return other.estimate.algorithm == e.estimate.algorithm;
  });
  if (same < 2) return e.estimate.algorithm;
  return fmt::format("{}, pieces of {}", e.estimate.algorithm, format_byte_size(e.estimate.segment_bytes));
}

std::string us_text(double us) { return us < 0 ? "-" : fmt::format("{:.2f}", us); }
std::string us_text(const std::optional<double>& us) { return us_text(us.value_or(-1)); }

std::string line(std::string_view mark, std::string_view name, std::string_view first,
                 std::string_view second) {
  return fmt::format("# {:1} {:<32}  {:>10}{}{}\n", mark, name, first, second.empty() ? "" : "  ",
                     second.empty() ? "" : fmt::format("{:>10}", second));
}

std::string verdict(const std::vector<Explained>& all) {
  const Explained* best = nullptr;
  for (const Explained& e : all)
    if (e.measured_us && (best == nullptr || *e.measured_us < *best->measured_us)) best = &e;
  if (best == nullptr || !all[0].measured_us || *best->measured_us <= 0) return {};
  return fmt::format("# chosen {}: {:.2f} x the best measured ({})\n", name_of(all[0], all),
                     *all[0].measured_us / *best->measured_us, name_of(*best, all));
}

// "0-3 | 4-7": ranks of each group, as far as a line goes.
std::string groups_text(const std::vector<std::vector<Rank>>& groups) {
  constexpr std::size_t kBytesMax = 60;
  std::string text;
  for (const std::vector<Rank>& group : groups) {
    std::string ranks;
    for (std::size_t i = 0; i < group.size();) {
      std::size_t end = i + 1;
      while (end < group.size() && group[end] == group[end - 1] + 1) ++end;
      ranks += (ranks.empty() ? "" : ",") + std::to_string(group[i]);
      if (end > i + 1) ranks += "-" + std::to_string(group[end - 1]);
      i = end;
    }
    if (text.size() + ranks.size() > kBytesMax && !text.empty()) return text + " | ...";
    text += (text.empty() ? "" : " | ") + ranks;
  }
  return text;
}

}  // namespace

std::string levels_text(const std::vector<LevelEstimate>& levels) {
  if (levels.empty()) return {};
  std::string text =
      fmt::format("#\n# {:<12} {:<6} {:>9} {:>9}  {:<9} ranks\n", "level", "over", "us", "Gb/s", "cost");
  for (const LevelEstimate& l : levels)
    text +=
        fmt::format("# {:<12} {:<6} {:>9} {:>9}  {:<9} {}{}\n", l.name, l.medium.empty() ? "-" : l.medium,
                    us_text(l.latency_us), us_text(l.gigabits_per_second),
                    l.medium.empty() ? "by hand"
                    : l.measured     ? "measured"
                                     : "built-in",
                    groups_text(l.groups), l.used || l.groups.size() == 1 ? "" : "  (no algorithm's level)");
  return text;
}

std::optional<Collective> collective_of(const TestCase& test) {
  switch (test.kind) {
    case Kind::barrier: return Collective::barrier;
    case Kind::broadcast: return Collective::broadcast;
    case Kind::reduce: return Collective::reduce;
    case Kind::all_reduce: return Collective::all_reduce;
    case Kind::reduce_scatter: return Collective::reduce_scatter;
    case Kind::all_gather: return Collective::all_gather;
    case Kind::all_to_all: return Collective::all_to_all;
    case Kind::gather: return Collective::gather;
    case Kind::scatter: return Collective::scatter;
    default: return std::nullopt;
  }
}

std::string before_text(std::uint64_t bytes, const std::vector<Explained>& candidates) {
  if (candidates.empty()) return {};
  std::string text = "#\n" + line("", fmt::format("{} bytes (us)", bytes), "predicted", "");
  for (const Explained& e : candidates)
    text += line(e.estimate.chosen ? "*" : "", name_of(e, candidates), us_text(e.estimate.time_us), "");
  return text;
}

std::string after_text(const std::vector<Explained>& candidates) {
  if (candidates.empty()) return {};
  const auto measured = std::count_if(candidates.begin(), candidates.end(),
                                      [](const Explained& e) { return e.measured_us.has_value(); });
  std::string text = line("", "(us, median)", "predicted", "measured");
  for (const Explained& e : candidates)
    if (e.measured_us)
      text += line(e.estimate.chosen ? "*" : "", name_of(e, candidates), us_text(e.estimate.time_us),
                   us_text(e.measured_us));
  return measured > 1 ? text + verdict(candidates) : text;
}

}  // namespace strata::perf
