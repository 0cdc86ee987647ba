#include "ccl/topology/pcie.hpp"

#include <fmt/format.h>

#include <charconv>

namespace strata::topology {
namespace {

// The hexadecimal number that the whole text is.
std::optional<unsigned> hex(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

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

// All that points at the switch points at `instead`; the indices of those after it become one less.
void erase_switch(Machine& machine, int erased, int instead) {
  const auto move = [&](int& index) {
    if (index == erased) index = instead;
    if (index > erased) --index;
  };
  machine.pcie_switches.erase(machine.pcie_switches.begin() + erased);
  for (PcieSwitch& s : machine.pcie_switches) move(s.parent);
  for (Gpu& gpu : machine.gpus) move(gpu.pcie_switch);
  for (Nic& nic : machine.nics) move(nic.pcie_switch);
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

void keep_joining_switches(Machine& machine) {
  for (std::size_t i = 0; i < machine.pcie_switches.size();) {
    const int index = static_cast<int>(i);
    if (count_children(machine)[i] >= 2) {
      ++i;
      continue;
    }
    const int parent = machine.pcie_switches[i].parent;
    erase_switch(machine, index, parent);
    i = 0;  // what it hung on has a child less
  }
}

}  // namespace strata::topology
