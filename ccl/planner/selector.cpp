#include "ccl/planner/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "ccl/base/check.hpp"
#include "ccl/planner/predict.hpp"

namespace strata {
namespace {

// Without a simulation: up to here latency counts more than bytes: few steps, whole vectors.
constexpr std::uint64_t kSmallBytes = 16 << 10;
// From here bytes are everything and a pipeline pays for its steps.
constexpr std::uint64_t kLargeBytes = 512 << 10;

constexpr int kOneShotRanksMax = 8;  // everybody sends to everybody: n - 1 messages a rank

// Predictions nearer to each other are not told apart: what the bounds of size say is taken then.
constexpr Picoseconds kMarginPercent = 10;

// Segments of pipelined algorithms; the first also of all others. Larger ones leave the caches and have
// nothing to win where a segment is a message; hierarchical algorithms split each over all ranks.
constexpr std::array<std::uint64_t, 4> kSegmentBytes = {256 << 10, 64 << 10, 1 << 20, 4 << 20};
constexpr int kTuningBits = 2;

// Whether the algorithm is a candidate with these segments. Of several that would cut the data alike, one is.
bool is_candidate(const Algorithm& a, std::uint64_t segment_bytes, std::uint64_t bytes, bool simulated) {
  const bool hierarchical = a.name == "hierarchical";  // its like in few rounds is for little data
  if (hierarchical && !simulated)
    return segment_bytes == kSegmentBytes.back();  // a rank's share is not too small
  if (segment_bytes == kSegmentBytes[0]) return true;
  if (segment_bytes < kSegmentBytes[0]) return (hierarchical || a.name == "chain") && bytes > segment_bytes;
  return hierarchical && bytes > segment_bytes / 4;
}

// Sums of narrow floats lose too much when they are rounded at each rank.
bool round_once(const Request& r) {
  if (!r.reduces()) return false;
  return is_integer(r.type) ? r.op == ReduceOp::average : size_of(r.type) < 4;
}
// Or once a level, which is as good as that, and the only way to spare the links between hosts.
bool rounds_once(const Algorithm& a) {
  const bool by_level = a.name == "hierarchical" && (a.collective == Collective::all_reduce ||
                                                     a.collective == Collective::reduce_scatter);
  return by_level || a.name == "one_shot" || a.name == "direct";
}

std::string_view by_size(const Request& r, std::uint64_t bytes, const Group& group) {
  const bool small = bytes <= kSmallBytes;
  const int size = group.size();
  const Algorithm* levels = bytes >= kLargeBytes ? find_algorithm(r.collective, "hierarchical") : nullptr;
  const bool by_level = levels != nullptr && levels->supports(r, group);
  if (round_once(r) && by_level && rounds_once(*levels)) return levels->name;
  if (round_once(r))
    return r.collective == Collective::all_reduce && bytes <= kSmallBytes / 4 && size <= kOneShotRanksMax
               ? "one_shot"
               : "direct";
  if (by_level) return levels->name;
  const Algorithm* rounds = small ? nullptr : find_algorithm(r.collective, "hierarchical_pat");
  if (rounds != nullptr && rounds->supports(r, group)) return rounds->name;
  switch (r.collective) {
    case Collective::broadcast:
    case Collective::reduce: return bytes < kLargeBytes ? "binomial_tree" : "chain";
    case Collective::all_reduce:
      return small ? "recursive_doubling" : bytes < kLargeBytes ? "halving_doubling" : "ring";
    case Collective::reduce_scatter: return small ? "halving_doubling" : "ring";
    case Collective::all_gather: return small ? "bruck" : "ring";
    case Collective::all_to_all: return small ? "bruck" : "pairwise";
    case Collective::gather:
    case Collective::scatter: return small ? "binomial_tree" : "linear";
    default: return {};
  }
}

// Those that can serve the call.
std::string names_of(const Request& request, const Group& group) {
  std::string names;
  for (const Algorithm& a : catalog())
    if (a.collective == request.collective && a.supports(request, group))
      names += (names.empty() ? "" : ", ") + std::string(a.name);
  return names;
}

// Four sizes an octave: the exponent and the next two bits.
std::uint64_t bucket_of(std::uint64_t bytes) {
  if (bytes < 4) return bytes;
  const auto exponent = static_cast<unsigned>(std::bit_width(bytes) - 1);
  return exponent << 2 | (bytes >> (exponent - 2) & 3);
}
std::uint64_t least_bytes_of(std::uint64_t bucket) {
  return bucket < 4 ? bucket : (4 | (bucket & 3)) << ((bucket >> 2) - 2);
}

// What the choice depends on. Not on `in_place`, in which ranks may differ.
std::uint64_t key_of(const Request& r, std::uint64_t bytes) {
  std::uint64_t key = bucket_of(bytes);                      // 8 bits
  key = key << 18 | static_cast<std::uint64_t>(r.root + 1);  // kNoRank is -1
  key = key << 8 | static_cast<std::uint64_t>(r.collective);
  key = key << 8 | static_cast<std::uint64_t>(r.type);
  key = key << 8 | static_cast<std::uint64_t>(r.op);
  return key << 1 | (r.counts.empty() ? 0 : 1);
}

Tuning tuning_of(unsigned variant) { return {.channels = 1, .segment_bytes = kSegmentBytes[variant]}; }

std::uint8_t packed(const Choice& choice) {
  const auto at = std::find(kSegmentBytes.begin(), kSegmentBytes.end(), choice.tuning.segment_bytes);
  const auto algorithm = static_cast<std::size_t>(choice.algorithm - catalog().data());
  STRATA_CHECK(algorithm < 1u << (ChoiceCache::kValueBits - kTuningBits), algorithm);
  return static_cast<std::uint8_t>(algorithm << kTuningBits |
                                   static_cast<std::size_t>(at - kSegmentBytes.begin()));
}
Choice unpacked(std::uint8_t value) {
  return {&catalog()[value >> kTuningBits], tuning_of(value & ((1u << kTuningBits) - 1))};
}

}  // namespace

Selector::Selector(CostModel model)
    : model_(std::move(model)),
      group_(whole_group(model_.size(), 0, model_.levels)),
      cache_(std::make_unique<ChoiceCache>()) {}

// The fixed bounds' choice comes first.
std::vector<Choice> Selector::choices(const Request& request) const {
  const std::uint64_t bytes = least_bytes_of(bucket_of(data_bytes(request, model_.size())));
  const bool simulated = model_.size() <= kSimulatedRanksMax;
  const std::string_view first = by_size(request, bytes, group_);
  const bool once = round_once(request);
  std::vector<Choice> all;
  for (const Algorithm& a : catalog()) {
    if (a.collective != request.collective || !a.supports(request, group_)) continue;
    if (once && !rounds_once(a)) continue;
    for (unsigned variant = 0; variant < kSegmentBytes.size(); ++variant)
      if (is_candidate(a, kSegmentBytes[variant], bytes, simulated)) all.push_back({&a, tuning_of(variant)});
  }
  std::stable_partition(all.begin(), all.end(), [&](const Choice& c) { return c.algorithm->name == first; });
  return all;
}

Choice Selector::cheapest(const Request& request, const std::vector<Choice>& all) const {
  if (all.size() == 1 || model_.size() == 1 || model_.size() > kSimulatedRanksMax) return all.front();
  // All-to-all-v has counts that differ by rank, so they may decide nothing; it has one algorithm.
  const std::uint64_t bytes = least_bytes_of(bucket_of(data_bytes(request, model_.size())));
  const Request typical = with_bytes(request, bytes, model_.size());
  const auto time_of = [&](auto&& measure, const Choice& c) {
    return measure(*c.algorithm, typical, c.tuning, model_);
  };
  // The most promising first: most of the others need no simulation then.
  struct Rated {
    Picoseconds least;
    const Choice* choice;
  };
  std::vector<Rated> rated;
  for (std::size_t i = 1; i < all.size(); ++i) rated.push_back({time_of(least_time, all[i]), &all[i]});
  std::stable_sort(rated.begin(), rated.end(), [](Rated a, Rated b) { return a.least < b.least; });
  const Choice* best = &all.front();
  Picoseconds best_time = time_of(predict, *best) / 100 * (100 - kMarginPercent);
  for (const Rated& r : rated) {
    if (r.least >= best_time) break;
    const Picoseconds time = time_of(predict, *r.choice);
    if (time >= best_time) continue;
    best = r.choice;
    best_time = time;
  }
  return *best;
}

Expected<Choice> Selector::select(const Request& request, std::string_view wanted, bool required) const {
  if (!wanted.empty()) {
    const Algorithm* a = find_algorithm(request.collective, wanted);
    if (a != nullptr && a->supports(request, group_)) return Choice{a, tuning_of(0)};
    if (required)
      return Status(ErrorCode::invalid_argument,
                    fmt::format("algorithm '{}' {} {}; choose one of: {}", wanted,
                                a == nullptr ? "does not exist for" : "does not support this call of",
                                to_string(request.collective), names_of(request, group_)));
  }
  const bool uneven = !request.recv_counts.empty();
  const std::uint64_t key = key_of(request, uneven ? 0 : data_bytes(request, model_.size()));
  if (const auto known = cache_->find(key)) return unpacked(*known);
  const std::vector<Choice> all = choices(request);
  if (all.empty())
    return Status(ErrorCode::internal, fmt::format("no algorithm for {}", to_string(request.collective)));
  const Choice chosen = cheapest(request, all);
  cache_->insert(key, packed(chosen));
  return chosen;
}

Expected<std::vector<Candidate>> Selector::explain(const Request& request, std::string_view wanted) const {
  const Expected<Choice> chosen = select(request, wanted, !wanted.empty());
  if (!chosen) return chosen.status();
  std::vector<Choice> all = choices(request);
  if (std::find(all.begin(), all.end(), *chosen) == all.end()) all.push_back(*chosen);  // forced
  std::vector<Candidate> candidates;
  for (const Choice& c : all) candidates.push_back({c, predict(*c.algorithm, request, c.tuning, model_)});
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    const bool a_is = a.choice == *chosen, b_is = b.choice == *chosen;
    return a_is != b_is ? a_is : a.predicted_ps < b.predicted_ps;
  });
  return candidates;
}

}  // namespace strata
