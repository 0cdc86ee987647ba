// libFuzzer: any bytes as NCCL's topology file. What is read is sound: hierarchies can be made of it.
#include <cstdlib>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/nccl_xml.hpp"
#include "ccl/topology/position.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::topology;
  auto machine = parse_nccl_xml({reinterpret_cast<const char*>(data), size}, "fuzz.xml");
  if (!machine) return 0;
  Topology topology;
  topology.machines.push_back(std::move(*machine));
  topology.hosts.push_back({"host", 0, 0, kNone});
  std::vector<Place> places;
  for (std::size_t gpu = 0; gpu < topology.machines[0].gpus.size() && gpu < 16; ++gpu)
    places.push_back({"host", {}, static_cast<int>(gpu)});
  for (const Place& place : places)
    if (nics_near(topology.machines[0], place).nics.empty() != topology.machines[0].nics.empty())
      std::abort();
  if (!hierarchy(places, topology).ok()) std::abort();
  return 0;
}
