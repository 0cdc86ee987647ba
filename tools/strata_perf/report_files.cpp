// The same rows for programs to read: CSV and JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/strata_perf/names.hpp"
#include "tools/strata_perf/report.hpp"

namespace strata::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFigureNames[] = {"time_us", "algbw_gbs", "busbw_gbs", "wrong", "p50_us",
                                        "p99_us",  "min_us",    "samples",   "calls"};

std::string csv_figures(const std::optional<Figures>& f) {
  if (!f) return ",,,,,,,,,";
  return fmt::format(",{},{},{},{},{},{},{},{},{}", f->time_us, f->algorithm_gbs, f->bus_gbs,
                     f->wrong ? std::to_string(*f->wrong) : "", f->p50_us, f->p99_us, f->min_us, f->samples,
                     f->calls);
}

Json json_figures(const Figures& f) {
  Json json = {
      {"time_us", f.time_us}, {"algbw_gbs", f.algorithm_gbs}, {"busbw_gbs", f.bus_gbs}, {"p50_us", f.p50_us},
      {"p99_us", f.p99_us},   {"min_us", f.min_us},           {"samples", f.samples},   {"calls", f.calls},
      {"wrong", nullptr}};
  if (f.wrong) json["wrong"] = *f.wrong;
  return json;
}

Json json_candidates(const std::vector<Explained>& candidates) {
  Json json = Json::array();
  for (const Explained& e : candidates) {
    Json one = {{"algorithm", e.estimate.algorithm},
                {"segment_bytes", e.estimate.segment_bytes},
                {"chosen", e.estimate.chosen},
                {"predicted_us", nullptr},
                {"measured_us", nullptr}};
    if (e.estimate.time_us >= 0) one["predicted_us"] = e.estimate.time_us;
    if (e.measured_us) one["measured_us"] = *e.measured_us;
    json.push_back(std::move(one));
  }
  return json;
}

Json json_row(const Row& row) {
  const TestCase& test = *row.what.test;
  Json json = {{"collective", test.name},
               {"size_bytes", row.shown_bytes},
               {"count", row.count},
               {"type", to_string(row.what.type)},
               {"op", nullptr},
               {"root", nullptr},
               {"out_of_place", json_figures(row.out_of_place)},
               {"in_place", nullptr}};
  if (test.reduces) json["op"] = to_string(row.what.op);
  if (test.rooted) json["root"] = row.what.root;
  if (row.in_place) json["in_place"] = json_figures(*row.in_place);
  if (!row.candidates.empty()) json["candidates"] = json_candidates(row.candidates);
  return json;
}

}  // namespace

std::string csv_header() {
  std::string text = "collective,size_bytes,count,type,op,root";
  for (const char* side : {"out_of_place", "in_place"})
    for (const char* name : kFigureNames) text += fmt::format(",{}_{}", side, name);
  return text + "\n";
}

std::string csv_row(const Row& row) {
  const TestCase& test = *row.what.test;
  return fmt::format("{},{},{},{},{},{}", test.name, row.shown_bytes, row.count, to_string(row.what.type),
                     test.reduces ? to_string(row.what.op) : "",
                     test.rooted ? std::to_string(row.what.root) : "") +
         csv_figures(row.out_of_place) + csv_figures(row.in_place) + "\n";
}

std::string json_text(const Options& o, const std::vector<RankInfo>& ranks, const std::vector<Row>& rows,
                      const Summary& summary) {
  Json json;
  json["options"] = {{"minbytes", o.bytes_min},
                     {"maxbytes", o.bytes_max},
                     {"stepbytes", o.bytes_step},
                     {"stepfactor", o.factor},
                     {"iters", o.iterations},
                     {"agg_iters", o.calls_per_iteration},
                     {"warmup_iters", o.warmups},
                     {"check", o.checks},
                     {"blocking", o.blocking},
                     {"touched", o.touched},
                     {"sampled_s", o.sampled_s},
                     {"memory", o.shared_memory ? "shared" : "private"},
                     {"average", static_cast<int>(o.average)},
                     {"algorithm", o.algorithm},
                     {"transport", o.transport}};
  json["ranks"] = Json::array();
  for (const RankInfo& rank : ranks) json["ranks"].push_back({{"host", rank.host}, {"pid", rank.pid}});
  json["rows"] = Json::array();
  for (const Row& row : rows) json["rows"].push_back(json_row(row));
  json["out_of_bounds_values"] = summary.wrong;
  json["average_bus_bandwidth_gbs"] = summary.mean_bus_gbs();
  return json.dump(2) + "\n";
}

}  // namespace strata::perf
