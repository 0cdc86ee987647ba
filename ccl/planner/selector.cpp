#include "ccl/planner/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace strata {
namespace {

// Up to here latency counts more than bytes: few steps, whole vectors.
constexpr std::uint64_t kSmallBytes = 16 << 10;
// From here bytes are everything and a pipeline pays for its steps.
constexpr std::uint64_t kLargeBytes = 512 << 10;
constexpr int kOneShotRanksMax = 8;  // everybody sends to everybody: n - 1 messages a rank

bool round_once(const Request& r) {
  if (!r.reduces()) return false;
  const bool integer_average = r.op == ReduceOp::average && is_integer(r.type);
  return size_of(r.type) < 4 || integer_average;
}

std::string_view all_reduce(const Request& r, int size, std::uint64_t bytes) {
  if (bytes <= kSmallBytes / 4 && size <= kOneShotRanksMax) return "one_shot";
  if (round_once(r)) return "direct";
  if (bytes <= kSmallBytes) return "recursive_doubling";
  return bytes < kLargeBytes ? "halving_doubling" : "ring";
}

std::string_view preferred(const Request& r, int size, std::uint64_t bytes) {
  switch (r.collective) {
    case Collective::barrier: return "dissemination";
    case Collective::broadcast: return bytes < kLargeBytes || size == 2 ? "binomial_tree" : "chain";
    case Collective::reduce:
      return round_once(r) ? "direct" : bytes < kLargeBytes ? "binomial_tree" : "chain";
    case Collective::all_reduce: return all_reduce(r, size, bytes);
    case Collective::reduce_scatter:
      return round_once(r) ? "direct" : bytes <= kSmallBytes ? "halving_doubling" : "ring";
    case Collective::all_gather: return bytes <= kSmallBytes ? "bruck" : "ring";
    case Collective::all_to_all: return bytes <= kSmallBytes ? "bruck" : "pairwise";
    case Collective::gather:
    case Collective::scatter: return bytes <= kSmallBytes ? "binomial_tree" : "linear";
    default: return {};
  }
}

std::string names_of(Collective collective) {
  std::string names;
  for (const Algorithm& a : catalog())
    if (a.collective == collective) names += (names.empty() ? "" : ", ") + std::string(a.name);
  return names;
}

Tuning tuning_for(const Algorithm& algorithm, std::uint64_t bytes, int size) {
  Tuning tuning;
  // A chain's pipeline fills in size - 1 segments: enough of them to hide that, none too small for its
  // overhead.
  if (algorithm.name == "chain")
    tuning.segment_bytes = std::max<std::uint64_t>(64 << 10, bytes / (8u * static_cast<unsigned>(size)));
  else
    tuning.segment_bytes = 256 << 10;
  return tuning;
}

}  // namespace

std::uint64_t data_bytes(const Request& r, int size) {
  const auto n = static_cast<std::uint64_t>(size);
  std::uint64_t elements = r.count;
  if (!r.counts.empty())
    elements = std::accumulate(r.counts.begin(), r.counts.end(), std::uint64_t{0});
  else if (r.collective == Collective::reduce_scatter || r.collective == Collective::all_gather ||
           r.collective == Collective::all_to_all || r.collective == Collective::gather ||
           r.collective == Collective::scatter)
    elements = r.count * n;
  return elements * r.element_bytes();
}

Expected<Choice> select(const Request& request, const Group& group, std::string_view wanted, bool required) {
  const std::uint64_t bytes = data_bytes(request, group.size());
  const auto chosen = [&](const Algorithm& a) { return Choice{&a, tuning_for(a, bytes, group.size())}; };
  if (!wanted.empty()) {
    const Algorithm* a = find_algorithm(request.collective, wanted);
    if (a != nullptr && a->supports(request, group)) return chosen(*a);
    if (required)
      return Status(ErrorCode::invalid_argument,
                    fmt::format("algorithm '{}' {} {}; choose one of: {}", wanted,
                                a == nullptr ? "does not exist for" : "does not support this call of",
                                to_string(request.collective), names_of(request.collective)));
  }
  // All-to-all-v and the like have counts that differ by rank, so only the preference may depend on them;
  // every such collective has one algorithm that supports it.
  if (const Algorithm* a = find_algorithm(request.collective, preferred(request, group.size(), bytes));
      a != nullptr && a->supports(request, group))
    return chosen(*a);
  const Algorithm* last = nullptr;
  for (const Algorithm& a : catalog())
    if (a.collective == request.collective && a.supports(request, group)) last = &a;
  if (last == nullptr)
    return Status(ErrorCode::internal, fmt::format("no algorithm for {}", to_string(request.collective)));
  return chosen(*last);
}

}  // namespace strata
