#include "tools/strata_perf/explain.hpp"

#include <algorithm>

namespace strata::perf {

Expected<Row> Explainer::measure(const Measurement& what) {
  Expected<std::vector<Explained>> all = candidates(what);
  if (!all) return all.status();
  if (world_.prints()) print_(before_text(what.bytes, *all));
  Expected<Row> row = meter_.measure(what);
  if (!row || all->empty()) return row;
  row->candidates = *std::move(all);
  row->candidates[0].measured_us = row->out_of_place.p50_us;
  if (all_of_them_)
    if (Status status = measure_others(what, *row); !status.ok()) return status;
  if (world_.prints()) print_(after_text(row->candidates));
  return row;
}

Expected<std::vector<Explained>> Explainer::candidates(const Measurement& what) const {
  std::vector<Explained> all;
  const std::optional<Collective> collective = collective_of(*what.test);
  if (!collective) return all;
  const Shape shape =
      shape_of(*what.test, what.bytes / size_of(what.type), world_.size(), world_.rank(), what.root);
  const Expected<std::vector<Estimate>> estimates = world_.communicator().estimate(
      *collective, shape.count, what.type, what.op, what.root, {.scale = 1, .algorithm = what.algorithm});
  if (!estimates) return estimates.status();
  for (const Estimate& e : *estimates) all.push_back({e, std::nullopt});
  return all;
}

// Twice, in turn with the chosen one, and the better counts: neither a moment's disturbance nor coming first
// is to decide.
Status Explainer::measure_others(const Measurement& what, Row& row) {
  for (int round = 0; round < 2; ++round)
    for (Explained& e : row.candidates) {
      if (e.estimate.chosen && round == 0) continue;  // has been measured
      Measurement other = what;
      if (!e.estimate.chosen) other.algorithm = e.estimate.algorithm;
      const Expected<std::vector<Explained>> by_name = candidates(other);
      if (!by_name) return by_name.status();
      if (by_name->front().estimate.segment_bytes != e.estimate.segment_bytes) continue;
      const Expected<Row> measured = meter_.measure(other);
      if (!measured) return measured.status();
      e.measured_us =
          std::min(e.measured_us.value_or(measured->out_of_place.p50_us), measured->out_of_place.p50_us);
      if (row.out_of_place.wrong) *row.out_of_place.wrong += measured->out_of_place.wrong.value_or(0);
    }
  return {};
}

}  // namespace strata::perf
