// Where the ranks of a job sit, and so which levels they form: the same on all of them.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/topology.hpp"
#include "ccl/topology/topology_file.hpp"
#include "strata/status.hpp"

namespace strata {

// What is known of one rank.
struct Seat {
  std::string host;     // its name
  std::string host_id;  // as Host::id
  std::string cpus;     // that it may run on, "0-3"
  int gpu = topology::kNone;
};

struct Whereabouts {
  std::vector<int> host;                // of each rank; numbered in the order of their first ranks
  topology::Topology topology;          // the hosts of the job, and those of the file
  std::vector<topology::Place> places;  // of each rank
  topology::Hierarchy natural;          // all levels that there are
  topology::Hierarchy levels;           // that algorithms are to work on: the natural ones, or those by hand
  topology::Topology stated;            // what the file says; no hosts: there is none
};

// Of each rank, the number of its host.
std::vector<int> number_hosts(std::span<const Seat> seats);

// Whether the file leaves open of which parts the host's machine is made. file: null, there is none.
bool is_open(const topology::TopologyFile* file, const std::string& host);

// Pure. machines: of each host, as discovered; nullopt: not known, or not needed. levels: as
// hierarchy_by_hand() takes them; empty: all. Errors: those of check_ranks() and of hierarchy_by_hand();
// mismatch, hosts of the file that have one name.
Expected<Whereabouts> whereabouts(std::span<const Seat> seats,
                                  std::span<const std::optional<topology::Machine>> machines,
                                  const topology::TopologyFile* file, const std::string& levels);

}  // namespace strata
