// Machines and clusters to test with.
#pragma once
#include <random>
#include <vector>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/topology.hpp"

namespace strata::topology::test {

// packages x NUMA nodes x L3s x cores, evenly; core i has CPU i and, if threads is 2, CPU i + cores.
Machine even_machine(int packages, int numa_nodes, int l3s, int cores, int threads = 1);

// Two packages with a NUMA node each; on each a PCIe switch with a NIC and four GPUs. links: of GPUs.
Machine gpu_machine(std::vector<GpuLink> links);

// Hosts "h0", "h1", ... of one kind.
Topology hosts_of(Machine machine, int count);

// A rank for each core in turn, host by host.
std::vector<Place> one_rank_a_core(const Topology& topology);

// Any machine, with parts that nest in any way; hosts in groups that may leave levels out; ranks anywhere.
struct RandomCase {
  Topology topology;
  std::vector<Place> places;
};
RandomCase random_case(std::mt19937& random);

}  // namespace strata::topology::test
