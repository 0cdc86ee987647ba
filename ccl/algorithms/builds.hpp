// The algorithms by name: what each file exports to the catalog.
#pragma once
#include "ccl/algorithms/algorithm.hpp"

namespace strata {

// The messages of a program do not depend on in_place: ranks may differ in it.
using Build = void(Program&, const Request&, const Group&, const Tuning&);

// Patarasuk, Yuan: "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009.
Build ring_all_reduce, ring_reduce_scatter, ring_all_gather;
// Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", IJHPCA 2005.
Build recursive_doubling_all_reduce, recursive_doubling_all_gather;
// Rabenseifner: "Optimization of collective reduction operations", ICCS 2004.
Build halving_doubling_all_reduce, halving_doubling_reduce_scatter;
Build binomial_tree_broadcast, binomial_tree_reduce, binomial_tree_gather, binomial_tree_scatter;
Build chain_broadcast, chain_reduce;
Build linear_gather, linear_scatter;
// Bruck, Ho, Kipnis, Upfal, Weathersby: "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", TPDS 1997.
Build bruck_all_gather, bruck_all_to_all;
// Jeaugey: "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025; without its
// bound on scratch.
Build pat_all_reduce, pat_reduce_scatter;
Build pairwise_all_to_all;
Build direct_all_reduce, direct_reduce_scatter, direct_reduce, direct_all_gather;
Build one_shot_all_reduce;
// Every level's data shared out over its ranks, as in Cho, Finkler, Kung, Hunter: "BlueConnect", MLSys 2019,
// for any number of levels of groups of any sizes. They need Group::hierarchy.
Build hierarchical_all_reduce, hierarchical_reduce_scatter, hierarchical_all_gather;
// The same in few rounds at each level.
Build hierarchical_pat_all_reduce, hierarchical_pat_reduce_scatter, hierarchical_pat_all_gather;
Build hierarchical_broadcast, hierarchical_reduce;
// For little data: between the outermost groups, few messages.
Build hierarchical_all_to_all, hierarchical_gather, hierarchical_scatter, hierarchical_barrier;
// Hensgen, Finkel, Manber: "Two algorithms for barrier synchronization", IJPP 1988.
Build dissemination_barrier;

}  // namespace strata
