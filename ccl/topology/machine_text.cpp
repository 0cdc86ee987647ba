#include "ccl/topology/machine_text.hpp"

#include <fmt/format.h>

#include "ccl/topology/topology_file.hpp"

namespace strata::topology {
namespace {

constexpr const char* kName = "machine";

}  // namespace

Expected<std::string> machine_text(const Machine& machine) {
  Topology topology;
  topology.machines.push_back(machine);
  Machine& alike = topology.machines[0];
  alike.name = kName;
  for (NumaNode& node : alike.numa_nodes) node.memory_bytes = 0;
  for (Nic& nic : alike.nics) nic.rail = kNone;  // rails are stated, not discovered
  topology.hosts.push_back({kName, 0, 0, kNone});
  std::string text = format_topology(topology);
  if (text.size() <= kMachineBytesMax) return text;
  return Status(
      ErrorCode::unavailable,
      fmt::format("its description has {} bytes, and at most {} are told to other hosts; a topology "
                  "file can state the machine",
                  text.size(), kMachineBytesMax));
}

Expected<Machine> parse_machine_text(std::string_view text) {
  const auto wrong = [](std::string_view what) {
    return Status(ErrorCode::mismatch, fmt::format("another host's description of its machine: {}", what));
  };
  if (text.size() > kMachineBytesMax) return wrong("it is too long");
  auto topology = parse_topology(text, kName);
  if (!topology) return wrong(topology.status().message());
  if (topology->machines.size() != 1) return wrong("it is not of one machine");
  return std::move(topology->machines[0]);
}

}  // namespace strata::topology
