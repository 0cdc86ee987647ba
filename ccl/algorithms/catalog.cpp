// The list of all algorithms, and what each can do.
#include <bit>

#include "ccl/algorithms/builds.hpp"

namespace strata {
namespace {

bool always(const Request&, const Group&) { return true; }

// Sums that pass through several ranks are rounded at each. Averages of narrow integers may not be: their sum
// must not overflow on the way (include/strata/types.hpp).
bool rounds_often(const Request& r, const Group&) {
  return r.op != ReduceOp::average || !is_integer(r.type) || size_of(r.type) == 8;
}

bool power_of_two(const Request&, const Group& g) {
  return std::has_single_bit(static_cast<unsigned>(g.size()));
}

// There is a level between a rank and all of them.
bool has_levels(const Request&, const Group& g) {
  return g.hierarchy != nullptr && g.hierarchy->levels.size() > 1;
}
bool levels_round(const Request& r, const Group& g) { return has_levels(r, g) && rounds_often(r, g); }
// Ranks alone on their hosts are one level, which matters if their links are unequal.
bool levels_or_rates_round(const Request& r, const Group& g) {
  const bool rates = g.hierarchy != nullptr && g.hierarchy->levels.size() == 1 && g.size() > 2 &&
                     !g.hierarchy->levels[0].rates.empty();
  return (has_levels(r, g) || rates) && rounds_often(r, g);
}

bool uniform(const Request& r, const Group&) { return r.counts.empty(); }

// So few that messages count, and copies do not.
bool few_bytes(const Request& r, const Group& g) {
  constexpr std::uint64_t kFewBytes = 1 << 20;
  std::uint64_t elements = r.counts.empty() ? r.count * static_cast<std::uint64_t>(g.size()) : 0;
  for (const std::uint64_t count : r.counts) elements += count;
  return has_levels(r, g) && elements * r.element_bytes() < kFewBytes;
}
bool few_bytes_uniform(const Request& r, const Group& g) { return uniform(r, g) && few_bytes(r, g); }

constexpr Algorithm kCatalog[] = {
    {"hierarchical", Collective::barrier, has_levels, hierarchical_barrier},
    {"dissemination", Collective::barrier, always, dissemination_barrier},

    {"hierarchical", Collective::broadcast, has_levels, hierarchical_broadcast},
    {"chain", Collective::broadcast, always, chain_broadcast},
    {"binomial_tree", Collective::broadcast, always, binomial_tree_broadcast},

    {"hierarchical", Collective::reduce, levels_round, hierarchical_reduce},
    {"chain", Collective::reduce, rounds_often, chain_reduce},
    {"binomial_tree", Collective::reduce, rounds_often, binomial_tree_reduce},
    {"direct", Collective::reduce, always, direct_reduce},

    {"hierarchical", Collective::all_reduce, levels_or_rates_round, hierarchical_all_reduce},
    {"hierarchical_pat", Collective::all_reduce, levels_round, hierarchical_pat_all_reduce},
    {"one_shot", Collective::all_reduce, always, one_shot_all_reduce},
    {"recursive_doubling", Collective::all_reduce, rounds_often, recursive_doubling_all_reduce},
    {"halving_doubling", Collective::all_reduce, rounds_often, halving_doubling_all_reduce},
    {"pat", Collective::all_reduce, rounds_often, pat_all_reduce},
    {"ring", Collective::all_reduce, rounds_often, ring_all_reduce},
    {"direct", Collective::all_reduce, always, direct_all_reduce},

    {"hierarchical", Collective::reduce_scatter, levels_round, hierarchical_reduce_scatter},
    {"hierarchical_pat", Collective::reduce_scatter, levels_round, hierarchical_pat_reduce_scatter},
    {"halving_doubling", Collective::reduce_scatter, rounds_often, halving_doubling_reduce_scatter},
    {"pat", Collective::reduce_scatter, rounds_often, pat_reduce_scatter},
    {"ring", Collective::reduce_scatter, rounds_often, ring_reduce_scatter},
    {"direct", Collective::reduce_scatter, always, direct_reduce_scatter},

    {"hierarchical", Collective::all_gather, has_levels, hierarchical_all_gather},
    {"hierarchical_pat", Collective::all_gather, has_levels, hierarchical_pat_all_gather},
    {"recursive_doubling", Collective::all_gather, power_of_two, recursive_doubling_all_gather},
    {"bruck", Collective::all_gather, always, bruck_all_gather},
    {"direct", Collective::all_gather, always, direct_all_gather},
    {"ring", Collective::all_gather, always, ring_all_gather},

    {"hierarchical", Collective::all_to_all, few_bytes_uniform, hierarchical_all_to_all},
    {"bruck", Collective::all_to_all, uniform, bruck_all_to_all},
    {"pairwise", Collective::all_to_all, always, pairwise_all_to_all},

    {"hierarchical", Collective::gather, few_bytes, hierarchical_gather},
    {"binomial_tree", Collective::gather, always, binomial_tree_gather},
    {"linear", Collective::gather, always, linear_gather},

    {"hierarchical", Collective::scatter, few_bytes, hierarchical_scatter},
    {"binomial_tree", Collective::scatter, always, binomial_tree_scatter},
    {"linear", Collective::scatter, always, linear_scatter},
};

}  // namespace

std::span<const Algorithm> catalog() { return kCatalog; }

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : kCatalog)
    if (algorithm.collective == collective && algorithm.name == name) return &algorithm;
  return nullptr;
}

}  // namespace strata
