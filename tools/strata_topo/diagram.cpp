#include "tools/strata_topo/diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/quantity.hpp"

namespace strata::topo {
namespace {

using namespace topology;

std::string rate_note(BitsPerSecond rate) { return rate == 0 ? "" : rounded_rate(rate); }

std::string joined(std::initializer_list<std::string> words) {
  std::string text;
  for (const std::string& word : words)
    if (!word.empty()) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The domain is left out where it is the usual one.
std::string short_address(const std::string& address) {
  return address.starts_with("0000:") ? address.substr(5) : address;
}

// A kind of part that cores are in.
struct Part {
  Kind kind;
  int Core::*index;
};

class Builder final {
 public:
  explicit Builder(const Machine& machine) : m_(machine) {}

  Box run() {
    Box host{Kind::host, m_.name, counts(), -1, {}};
    std::vector<const Core*> cores;
    for (const Core& core : m_.cores) cores.push_back(&core);
    divide(host, cores, parts(), 0);
    for (std::size_t numa = 0; numa < m_.numa_nodes.size(); ++numa)  // memory without cores
      if (!drawn_.contains(static_cast<int>(numa))) host.children.push_back(numa_box(static_cast<int>(numa)));
    add_devices(host, kNone);
    return host;
  }

 private:
  std::string counts() const {
    const auto count = [](std::size_t n, const char* what) {
      return n == 0 ? std::string() : fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    return joined(
        {count(m_.cores.size(), "core"), count(m_.gpus.size(), "GPU"), count(m_.nics.size(), "NIC")});
  }

  // From the largest to the smallest; those that hold one core each are left out.
  std::vector<Part> parts() const {
    std::vector<std::pair<double, Part>> sized;
    for (const Part part :
         {Part{Kind::package, &Core::package}, Part{Kind::numa, &Core::numa}, Part{Kind::l3, &Core::l3}}) {
      std::map<int, int> cores;
      int all = 0;
      for (const Core& core : m_.cores)
        if (core.*part.index != kNone) ++cores[core.*part.index], ++all;
      const bool alone = std::all_of(cores.begin(), cores.end(), [](const auto& c) { return c.second == 1; });
      if (!cores.empty() && (!alone || part.kind == Kind::numa || cores.size() == 1))
        sized.emplace_back(static_cast<double>(all) / static_cast<double>(cores.size()), part);
    }
    std::stable_sort(sized.begin(), sized.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Part> parts;
    for (const auto& [size, part] : sized) parts.push_back(part);
    return parts;
  }

  std::string title(Kind kind, int index) const {
    const auto i = static_cast<std::size_t>(index);
    if (kind == Kind::package) return fmt::format("Package {}", index);
    if (kind == Kind::numa) return fmt::format("NUMA {}", m_.numa_nodes[i].number);
    return m_.l3s[i].bytes == 0
               ? "L3"
               : fmt::format("L3 {:.3g} MiB", static_cast<double>(m_.l3s[i].bytes) / (1 << 20));
  }

  std::string note(Kind kind, int index) const {
    const auto i = static_cast<std::size_t>(index);
    if (kind == Kind::package) return m_.packages[i].model;
    if (kind != Kind::numa || m_.numa_nodes[i].memory_bytes == 0) return {};
    return fmt::format("{:.3g} GiB", static_cast<double>(m_.numa_nodes[i].memory_bytes) / (1 << 30));
  }

  Box numa_box(int numa) {
    Box box{Kind::numa, title(Kind::numa, numa), note(Kind::numa, numa), -1, {}};
    add_devices(box, numa);
    return box;
  }

  // Puts the cores into the box, divided by the parts from the first on.
  void divide(Box& box, const std::vector<const Core*>& cores, const std::vector<Part>& parts,
              std::size_t first) {
    if (first == parts.size()) {
      for (const Core* core : cores)
        box.children.push_back({Kind::core, format_cpu_list(core->cpus), "", -1, {}});
      return;
    }
    const Part part = parts[first];
    std::map<int, std::vector<const Core*>> divided;
    for (const Core* core : cores) divided[core->*part.index].push_back(core);
    for (const auto& [index, of_part] : divided) {
      // A part with all of the box's cores is the same box, unless the box is the host, which has a name of
      // its own.
      const bool same = divided.size() == 1 && box.kind != Kind::host;
      Box inner{part.kind, "", "", -1, {}};
      Box& into = index == kNone || same ? box : inner;
      if (index != kNone) {
        into.title += (into.title.empty() ? "" : " · ") + title(part.kind, index);
        into.note = joined({into.note, note(part.kind, index)});
      }
      divide(into, of_part, parts, first + 1);
      if (part.kind == Kind::numa && index != kNone && drawn_.insert(index).second) add_devices(into, index);
      if (&into == &inner) box.children.push_back(std::move(inner));
    }
  }

  // Those of the node that hang on no switch, and its outermost switches.
  void add_devices(Box& box, int numa) {
    for (std::size_t i = 0; i < m_.pcie_switches.size(); ++i)
      if (m_.pcie_switches[i].parent == kNone && m_.pcie_switches[i].numa == numa)
        box.children.push_back(switch_box(static_cast<int>(i)));
    add_leaves(box, kNone, numa);
  }

  Box switch_box(int index) {
    const PcieSwitch& s = m_.pcie_switches[static_cast<std::size_t>(index)];
    Box box{Kind::pcie_switch, "PCIe " + short_address(s.address), rate_note(s.pcie_rate), -1, {}};
    for (std::size_t i = 0; i < m_.pcie_switches.size(); ++i)
      if (m_.pcie_switches[i].parent == index) box.children.push_back(switch_box(static_cast<int>(i)));
    add_leaves(box, index, kNone);
    return box;
  }

  void add_leaves(Box& box, int pcie_switch, int numa) {
    const auto here = [&](const auto& device) {
      return device.pcie_switch == pcie_switch && (pcie_switch != kNone || device.numa == numa);
    };
    for (std::size_t i = 0; i < m_.gpus.size(); ++i)
      if (here(m_.gpus[i]))
        box.children.push_back(
            {Kind::gpu,
             fmt::format("GPU {}", i),
             m_.gpus[i].model.empty() ? short_address(m_.gpus[i].address) : m_.gpus[i].model,
             static_cast<int>(i),
             {}});
    for (const Nic& nic : m_.nics)
      if (here(nic))
        box.children.push_back(
            {Kind::nic,
             nic.rdma.empty() || nic.rdma == nic.name ? nic.name : nic.name + "/" + nic.rdma,
             nic.rate == 0 ? "rate unknown" : rate_note(nic.rate),
             -1,
             {}});
  }

  const Machine& m_;
  std::set<int> drawn_;  // nodes
};

std::string oversubscription_note(double oversubscription) {
  return oversubscription == 1 ? "" : fmt::format("{:.3g}:1 oversubscribed", oversubscription);
}

void add_hosts_and_groups(Box& box, const Topology& topology, int parent) {
  for (std::size_t i = 0; i < topology.groups.size(); ++i) {
    const Group& group = topology.groups[i];
    if (group.parent != parent) continue;
    Box inner{Kind::group,
              topology.levels[static_cast<std::size_t>(group.level)] + " " + group.name,
              oversubscription_note(group.oversubscription),
              -1,
              {}};
    add_hosts_and_groups(inner, topology, static_cast<int>(i));
    box.children.push_back(std::move(inner));
  }
  for (const Host& host : topology.hosts)
    if (host.group == parent) box.children.push_back({Kind::host, host.name, "", -1, {}});
}

}  // namespace

Box machine_diagram(const Machine& machine) { return Builder(machine).run(); }

Box cluster_diagram(const Topology& topology) {
  const std::size_t hosts = topology.hosts.size();
  Box box{Kind::cluster, "cluster", fmt::format("{} host{}", hosts, hosts == 1 ? "" : "s"), -1, {}};
  for (const Rail& rail : topology.rails)
    box.note = joined({box.note, "rail " + rail.name, oversubscription_note(rail.oversubscription)});
  add_hosts_and_groups(box, topology, kNone);
  return box;
}

}  // namespace strata::topo
