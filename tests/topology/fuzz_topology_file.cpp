// libFuzzer: any bytes as a topology file. What can be read is written and read as the same.
#include <cstdlib>

#include "ccl/topology/topology_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::topology;
  const auto topology = parse_topology({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!topology) return topology.status().message().empty() ? std::abort(), 1 : 0;
  const auto again = parse_topology(format_topology(*topology), "again.toml");
  if (!again || !(*again == *topology)) std::abort();
  return 0;
}
