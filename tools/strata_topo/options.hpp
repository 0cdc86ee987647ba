// What strata-topo was asked to do.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace strata::topo {

enum class Command { show, dump, levels, import, probe };

struct Options {
  Command command = Command::show;
  std::string topology;  // a file; empty: this host
  // show
  std::string svg;  // the file to draw into; empty: the terminal
  int width = 0;    // columns; 0: the terminal's
  bool ascii = false;
  // levels
  int ranks = 0;                    // on each host; 0: one for each slot, GPU or core
  std::vector<std::string> places;  // of each rank; empty: ranks fill host after host
  std::string levels;               // by hand; empty: all there are
  // probe
  std::string output;  // the file to write; empty: standard output
};

enum Exit { kUsage = 2, kFailed = 1 };

struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;  // when there are no options: help was asked for, or a mistake was reported
};
// Prints help on standard output, mistakes on standard error.
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace strata::topo
