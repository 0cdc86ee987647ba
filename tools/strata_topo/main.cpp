// strata-topo: shows machines and clusters, and the levels of ranks on them.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "ccl/runtime/probe.hpp"
#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/topology_file.hpp"
#include "tools/strata_topo/levels_table.hpp"
#include "tools/strata_topo/load.hpp"
#include "tools/strata_topo/options.hpp"
#include "tools/strata_topo/places.hpp"
#include "tools/strata_topo/svg_drawing.hpp"
#include "tools/strata_topo/text_drawing.hpp"

namespace strata::topo {
namespace {

constexpr int kColumnsDefault = 100, kColumnsMax = 160;

int complain(const Status& status) {
  std::fprintf(stderr, "strata-topo: %s\n", std::string(status.message()).c_str());
  return status.code() == ErrorCode::invalid_argument ? kUsage : kFailed;
}

int print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) std::perror("strata-topo: cannot write to standard output");
  return written ? 0 : kFailed;
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsDefault;
  return std::min<int>(size.ws_col, kColumnsMax);
}

int write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (file << text << std::flush) return 0;
  return complain(
      Status(ErrorCode::unavailable,
             fmt::format("cannot write {}; is its folder there, and may you write to it?", path)));
}

int show(const Options& options, const topology::Topology& topology) {
  if (options.svg.empty())
    return print(
        draw_text(topology, {options.width > 0 ? options.width : terminal_columns(), options.ascii}));
  const std::string picture = draw_svg(topology);
  return options.svg == "-" ? print(picture) : write(options.svg, picture);
}

int levels(const Options& options, const topology::Topology& topology) {
  auto places =
      options.places.empty() ? Expected(fill_hosts(topology, options.ranks)) : parse_places(options.places);
  if (!places) return complain(places.status());
  const auto made = options.levels.empty() ? hierarchy(*places, topology)
                                           : hierarchy_by_hand(options.levels, *places, topology);
  if (!made) return complain(made.status());
  const int width = terminal_columns();
  return print(describe_levels(*made, *places, topology, width) +
               describe_near_nics(*places, topology, width));
}

// One rank of a job.
int probe(const Options& options) {
  if (!CommunicatorOptions::launched())
    return complain(Status(ErrorCode::invalid_argument,
                           "probe measures between the ranks of a job; start it as in: strata-run -n 4 -- "
                           "strata-topo probe --output host.toml"));
  auto where = CommunicatorOptions::from_environment();
  if (!where) return complain(where.status());
  if (!options.topology.empty()) where->topology = options.topology;
  const auto measured = strata::probe(
      *where, [](const std::string& line) { std::fprintf(stderr, "strata-topo: %s\n", line.c_str()); });
  if (!measured) return complain(measured.status());
  if (where->rank != 0) return 0;
  const std::string text = topology::format_topology(*measured);
  return options.output.empty() ? print(text) : write(options.output, text);
}

int main(int argc, const char* const* argv) {
  const Parsed parsed = parse_command_line(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  const Options& options = *parsed.options;
  if (options.command == Command::probe) return probe(options);
  const bool import = options.command == Command::import;
  const auto found = import ? load_xml(options.topology) : load(options.topology);
  if (!found) return complain(found.status());
  for (const std::string& note : found->notes) std::fprintf(stderr, "strata-topo: note: %s\n", note.c_str());
  switch (options.command) {
    case Command::show: return show(options, found->topology);
    case Command::levels: return levels(options, found->topology);
    case Command::dump:
    case Command::import:
    case Command::probe: break;
  }
  return print(topology::format_topology(found->topology));
}

}  // namespace
}  // namespace strata::topo

int main(int argc, char** argv) { return strata::topo::main(argc, argv); }
