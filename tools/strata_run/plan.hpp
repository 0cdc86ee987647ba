// What each rank is told: its arguments and its environment.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ccl/base/environment.hpp"
#include "strata/status.hpp"
#include "tools/strata_run/options.hpp"

namespace strata::run {

// Where the ranks of a lab meet: on its host 0, given by name or address, where every port is free.
std::string lab_rendezvous(std::string_view host);

// What is known about this host and job when the ranks start.
struct Job {
  std::string rendezvous;
  std::string secret;
  std::vector<int> cores;       // that this process may use
  std::uint16_t free_port = 0;  // for MASTER_PORT when the ranks meet at a path
};

// started: the number of a rank among those that are started here.
//
// The whole environment of one rank, as "NAME=value", in the order of names: what this process has, changed
// by options and job. Pure.
std::vector<std::string> environment_of(const Options& options, const Job& job,
                                        const std::vector<std::string>& inherited, int started);

// The cores of its own that a rank gets: an even share, neighbours together. Empty: it may use all, because
// that was asked for, or because there are fewer cores than ranks. Pure.
std::vector<int> cores_of(const Options& options, const Job& job, int started);

int world_size(const Options& options);
int rank_of(const Options& options, int started);

// Where ranks meet when the command line does not say: STRATA_RENDEZVOUS, or empty for a path to be made.
// Error: invalid_argument when several hosts have no common place to meet, or a path.
Expected<std::string> rendezvous_of(const Options& options, const Environment& environment);

}  // namespace strata::run
