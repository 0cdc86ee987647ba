#include "tools/strata_perf/report.hpp"

#include <fmt/format.h>

#include "tools/strata_perf/names.hpp"

namespace strata::perf {
namespace {

// Three to five digits, as nccl-tests prints times.
std::string time_text(double us) {
  if (us >= 10000.0) return fmt::format("{:7.0f}", us);
  return us >= 100.0 ? fmt::format("{:7.1f}", us) : fmt::format("{:7.2f}", us);
}

std::string wrong_text(const std::optional<std::uint64_t>& wrong) {
  return wrong ? std::to_string(*wrong) : "N/A";
}

std::string figures_text(const std::optional<Figures>& f) {
  if (!f) return fmt::format("  {:>7}  {:>6}  {:>6}  {:>5}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format("  {}  {:6.2f}  {:6.2f}  {:>5}", time_text(f->time_us), f->algorithm_gbs, f->bus_gbs,
                     wrong_text(f->wrong));
}

std::string percentiles_text(const std::optional<Figures>& f) {
  if (!f) return fmt::format("  {:>7}  {:>7}", "N/A", "N/A");
  return fmt::format("  {}  {}", time_text(f->p50_us), time_text(f->p99_us));
}

constexpr const char* kColumns = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}";
constexpr const char* kFigureColumns = "  {:>7}  {:>6}  {:>6} {:>6}";

}  // namespace

void Summary::add(const Row& row) {
  const auto count = [this](const Figures& f) {
    wrong += f.wrong.value_or(0);
    bus_gbs_sum += f.bus_gbs;
    ++figures;
  };
  count(row.out_of_place);
  if (row.in_place) count(*row.in_place);
}

std::string header_text(const Options& o, const std::vector<RankInfo>& ranks) {
  std::string text = fmt::format(
      "# nThread 1 nGpus 0 minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg iters: {} "
      "validation: {} "
      "graph: 0 touched: {} blocking: {}\n#\n# Using devices\n",
      o.bytes_min, o.bytes_max, o.factor > 1 ? fmt::format("{:g}", o.factor) : std::to_string(o.bytes_step),
      o.factor > 1 ? "factor" : "bytes", o.warmups, o.iterations, o.calls_per_iteration, o.checks,
      o.touched ? 1 : 0, o.blocking ? 1 : 0);
  for (std::size_t r = 0; r < ranks.size(); ++r)
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on {:>10} device  0 [host memory]\n", r, ranks[r].pid,
                        ranks[r].host);
  return text + "#\n";
}

std::string column_header_text(const TestCase& test, bool percentiles) {
  const std::string lead = fmt::format(kColumns, "", "", "", "", "");
  std::string titles = fmt::format(kColumns, "size", "count", "type", "redop", "root");
  std::string units = fmt::format(kColumns, "(B)", "(elements)", "", "", "");
  std::string sides = lead + fmt::format("  {:^30}  {:^30}", "out-of-place", "in-place");
  for (int side = 0; side < 2; ++side) {
    titles += fmt::format(kFigureColumns, "time", "algbw", "busbw", "#wrong");
    units += fmt::format(kFigureColumns, "(us)", "(GB/s)", "(GB/s)", "");
  }
  for (int side = 0; percentiles && side < 2; ++side) {
    titles += fmt::format("  {:>7}  {:>7}", "p50", "p99");
    units += fmt::format("  {:>7}  {:>7}", "(us)", "(us)");
  }
  if (percentiles) sides += fmt::format("  {:^16}  {:^16}", "out-of-place", "in-place");
  return fmt::format("# Collective: {}\n#\n{}\n{}\n{}\n", test.name, sides, titles, units);
}

std::string row_text(const Row& row, bool percentiles) {
  const TestCase& test = *row.what.test;
  std::string text = fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.shown_bytes, row.count,
                                 column_name(row.what.type), test.reduces ? column_name(row.what.op) : "none",
                                 test.rooted ? row.what.root : -1);
  text += figures_text(row.out_of_place) + figures_text(row.in_place);
  if (percentiles) text += percentiles_text(row.out_of_place) + percentiles_text(row.in_place);
  return text + "\n";
}

std::string footer_text(const Summary& summary) {
  return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g}\n#\n", summary.wrong,
                     summary.wrong ? "FAILED" : "OK", summary.mean_bus_gbs());
}

}  // namespace strata::perf
