#include "ccl/topology/pcie.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace strata::topology {
namespace {

// The hexadecimal number that the whole text is.
std::optional<unsigned> hex(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Of each switch, how many devices and switches hang on it.
std::vector<int> count_children(const Machine& machine) {
  std::vector<int> children(machine.pcie_switches.size());
  const auto add = [&](int parent) {
    if (parent != kNone) ++children[static_cast<std::size_t>(parent)];
  };
  for (const PcieSwitch& s : machine.pcie_switches) add(s.parent);
  for (const Gpu& gpu : machine.gpus) add(gpu.pcie_switch);
  for (const Nic& nic : machine.nics) add(nic.pcie_switch);
  return children;
}

}  // namespace

std::optional<std::string> pcie_address(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  const std::size_t colon = text.rfind(':', dot);
  if (dot == text.npos || colon == text.npos || colon == 0) return std::nullopt;
  const std::size_t first = text.rfind(':', colon - 1);
  const auto domain = first == text.npos ? 0u : hex(text.substr(0, first));
  const auto bus =
      hex(text.substr(first == text.npos ? 0 : first + 1, colon - (first == text.npos ? 0 : first + 1)));
  const auto device = hex(text.substr(colon + 1, dot - colon - 1));
  const auto function = hex(text.substr(dot + 1));
  if (!domain || !bus || !device || !function || *bus > 0xff || *device > 0x1f || *function > 7)
    return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *device, *function);
}

BitsPerSecond pcie_rate(double gigatransfers, int lanes) {
  if (!(gigatransfers > 0 && gigatransfers < 1000) || lanes <= 0 || lanes > 32) return 0;
  const double coding = gigatransfers > 5 ? 128.0 / 130 : 8.0 / 10;
  return static_cast<BitsPerSecond>(gigatransfers * 1e9 * lanes * coding);
}

void keep_joining_switches(Machine& machine) {
  std::vector<PcieSwitch>& switches = machine.pcie_switches;
  std::vector<int> children = count_children(machine);
  for (std::size_t i = 0; i < switches.size(); ++i)  // one that goes childless takes from those it hangs on
    for (std::size_t at = i; children[at] == 0 && switches[at].parent != kNone;) {
      children[at] = kNone;
      at = static_cast<std::size_t>(switches[at].parent);
      --children[at];
    }
  std::vector<int> number(switches.size(), kNone);
  int kept = 0;
  for (std::size_t i = 0; i < switches.size(); ++i)
    if (children[i] >= 2) number[i] = kept++;
  const auto move = [&](int& index) {
    while (index != kNone && number[static_cast<std::size_t>(index)] == kNone)
      index = switches[static_cast<std::size_t>(index)].parent;
    if (index != kNone) index = number[static_cast<std::size_t>(index)];
  };
  for (Gpu& gpu : machine.gpus) move(gpu.pcie_switch);
  for (Nic& nic : machine.nics) move(nic.pcie_switch);
  std::vector<PcieSwitch> joining;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (number[i] == kNone) continue;
    joining.push_back(switches[i]);
    move(joining.back().parent);
  }
  switches = std::move(joining);
}

}  // namespace strata::topology
