// What strata-run was asked to do.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/strata_run/lab_shape.hpp"

namespace strata::run {

// Emulated hosts for the job, as tools/lab makes them; texts are its to judge, empty ones its to choose.
struct LabOptions {
  LabShape shape;
  bool round_robin = false;  // ranks go from host to host; else one host's come after the other's
  std::string name;          // empty: run- and the number of this process
  int racks = 1;
  std::string uplink, delay;
};

struct Options {
  int ranks = 0;  // on this host, or in the lab
  std::optional<LabOptions> lab;
  int nodes = 1;
  int node_rank = 0;
  std::string rendezvous;   // empty: a socket in a private folder
  std::string secret_file;  // empty: STRATA_SECRET, or made up for one host
  std::string transport, interface, algorithm, port_range, log, topology, levels, trace,
      metrics;  // empty: as the environment has them
  std::optional<double> timeout_s, rendezvous_timeout_s;
  double grace_s = 10;  // between asking a rank to end and killing it
  bool bind = true;     // each rank to cores of its own, if there are enough
  bool prefix = true;
  int only_rank = -1;  // whose standard output is shown; -1: everybody's
  std::vector<std::string> command;
};

// The exit codes of strata-run itself; otherwise it is that of the first rank that failed.
enum Exit { kUsage = 2, kLauncherFailed = 125, kNotExecutable = 126, kNotFound = 127 };

struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;  // when there are no options: help was asked for, or a mistake was reported
};
// Prints help on standard output, mistakes on standard error.
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace strata::run
