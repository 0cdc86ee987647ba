// libFuzzer: topology files. What can be read is written and read as the same, and a mistake has words.
#include <cstdlib>

#include "ccl/topology/topology_file.hpp"
#include "tests/topology/fuzz_tokens.hpp"

namespace strata::topology::test {
namespace {

constexpr std::string_view kWords[] = {
    "levels = [\"rack\", \"row\"]\n",
    "\n[[group]]\n",
    "\n[[rail]]\n",
    "\n[[machine]]\n",
    "\n[[host]]\n",
    "\n[[cost]]\n",
    "name = \"a\"\n",
    "name = \"b\"\n",
    "name = \"n[0-3]\"\n",
    "level = \"rack\"\n",
    "level = \"row\"\n",
    "in = \"a\"\n",
    "in = \"b\"\n",
    "machine = \"a\"\n",
    "slots = 8\n",
    "oversubscription = 1.5\n",
    "medium = \"shm\"\n",
    "latency = \"1.5 us\"\n",
    "rate = \"100 Gb/s\"\n",
    "packages = [\"model\"]\n",
    "numa_nodes = [{number = 3, memory = \"64 GiB\"}, {}]\n",
    "l3_caches = [{size = \"16 MiB\"}]\n",
    "cores = [{package = 0, numa = 1, l3 = 0, cpus = [\"0,2\", \"1,3\"]}]\n",
    "pcie_switches = [{address = \"1:0.0\", numa = 0}, {address = \"2:0.0\", parent = \"0000:01:00.0\"}]\n",
    "gpus = [{address = \"3:0.0\", model = \"x\", pcie_switch = \"0000:01:00.0\"}, {address = \"4:0.0\"}]\n",
    "gpu_links = [{gpu = 0, to = 1, rate = \"400 Gb/s\"}, {gpu = 1}]\n",
    "nics = [{name = \"e\", rdma = \"m\", rate = \"1 GB/s\", rail = \"a\", pcie_rate = \"8 Gb/s\"}]\n",
};

void check(const std::string& text) {
  const auto topology = parse_topology(text, "fuzz.toml");
  if (!topology) {
    if (!topology.status().message().starts_with("fuzz.toml:")) std::abort();
    return;
  }
  const auto again = parse_topology(format_topology(*topology), "again.toml");
  if (!again || !(*again == *topology)) std::abort();
}

}  // namespace
}  // namespace strata::topology::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::topology::test::check(
      strata::topology::test::text_of_tokens({data, size}, strata::topology::test::kWords));
  return 0;
}
