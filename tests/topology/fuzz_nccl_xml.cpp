// libFuzzer: NCCL's topology files. What is read is sound: levels can be made of it, and it can be written
// down.
#include <cstdlib>
#include <span>
#include <vector>

#include "ccl/topology/hierarchy.hpp"
#include "ccl/topology/nccl_xml.hpp"
#include "ccl/topology/position.hpp"
#include "ccl/topology/topology_file.hpp"

namespace strata::topology::test {
namespace {

constexpr std::string_view kWords[] = {
    "<system version=\"1\">",
    "<cpu numaid=\"0\" affinity=\"0000ffff\">",
    "<cpu numaid=\"1\" affinity=\"0000ffff,00000000\">",
    "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">",
    "<pci busid=\"0000:02:00.0\" class=\"0x060400\">",
    "<pci busid=\"0000:03:00.0\" class=\"0x030200\">",
    "<pci busid=\"0000:04:00.0\" class=\"0x030200\">",
    "<pci busid=\"0000:05:00.0\" class=\"0x030200\"/>",
    "<pci busid=\"0000:06:00.0\" class=\"0x020700\">",
    "<pci busid=\"0000:07:00.0\" class=\"0x020000\"/>",
    "<gpu dev=\"0\" sm=\"80\">",
    "<gpu/>",
    "<nvlink target=\"0000:03:00.0\" count=\"2\" tclass=\"0x030200\"/>",
    "<nvlink target=\"0000:04:00.0\" count=\"2\" tclass=\"0x030200\"/>",
    "<nvlink target=\"0000:c4:00.0\" count=\"12\" tclass=\"0x068000\"/>",
    "<nic>",
    "<net name=\"mlx5_0\" speed=\"100000\"/>",
    "<net/>",
};

// Elements that are closed, so that what is in them is looked at: a byte below the number of words is that
// word, the next number closes the innermost element, and others stand for themselves. After a first byte of
// 0 all do.
std::string text_of(std::span<const std::uint8_t> bytes) {
  std::string text;
  std::vector<std::string> open;
  const auto close = [&] {
    if (open.empty()) return;
    text += "</" + open.back() + ">";
    open.pop_back();
  };
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (bytes[0] == 0 || bytes[i] > std::size(kWords)) {
      text += static_cast<char>(bytes[i]);
    } else if (bytes[i] == std::size(kWords)) {
      close();
    } else {
      const std::string_view word = kWords[bytes[i]];
      text += word;
      if (!word.ends_with("/>")) open.emplace_back(word.substr(1, word.find_first_of(" >") - 1));
    }
  }
  while (!open.empty()) close();
  return text;
}

void check(const std::string& text) {
  auto machine = parse_nccl_xml(text, "fuzz.xml");
  if (!machine) return;
  machine->name = "machine";
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
  if (text.find_first_not_of(" !#$%&'()*+,-./:;<=>?@[]^_{|}~\"\n"
                             "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != text.npos)
    return;  // TOML is UTF-8, and some names are not
  const auto again = parse_topology(format_topology(topology), "again.toml");
  if (!again || !(*again == topology)) std::abort();
}

}  // namespace
}  // namespace strata::topology::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::topology::test::check(strata::topology::test::text_of({data, size}));
  return 0;
}
