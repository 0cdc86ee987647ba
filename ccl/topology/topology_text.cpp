// Topologies written as TOML.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <sstream>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/quantity.hpp"
#include "ccl/topology/topology_file.hpp"

namespace strata::topology {
namespace {

constexpr std::size_t kCoresPerLine = 8;

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

std::string quoted(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(quoted(text));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

// The pairs of one table; what is not known is left out.
class Pairs final {
 public:
  Pairs& text(std::string_view key, const std::string& value) {
    return value.empty() ? *this : add(key, quoted(value));
  }
  Pairs& index(std::string_view key, int value) { return value == kNone ? *this : number(key, value); }
  Pairs& number(std::string_view key, int value) { return add(key, std::to_string(value)); }
  Pairs& quantity(std::string_view key, std::uint64_t value, std::span<const Unit> units) {
    return value == 0 ? *this : add(key, quoted(format_quantity(value, units)));
  }
  Pairs& rate(std::string_view key, BitsPerSecond value) { return quantity(key, value, rate_units()); }
  Pairs& oversubscription(double value) {
    return value == 1 ? *this : add("oversubscription", fmt::format("{}", value));
  }
  template <class Named>
  Pairs& reference(std::string_view key, int index, const std::vector<Named>& to) {
    return index == kNone ? *this : text(key, to[static_cast<std::size_t>(index)].name);
  }
  Pairs& add(std::string_view key, const std::string& value) {
    return pairs_.push_back(fmt::format("{} = {}", key, value)), *this;
  }

  std::string in_line() const { return fmt::format("{{{}}}", fmt::join(pairs_, ", ")); }
  std::string lines() const { return pairs_.empty() ? "" : fmt::format("{}\n", fmt::join(pairs_, "\n")); }

 private:
  std::vector<std::string> pairs_;
};

std::string list(std::string_view key, const std::vector<std::string>& items) {
  return items.empty() ? "" : fmt::format("{} = [\n  {},\n]\n", key, fmt::join(items, ",\n  "));
}

template <class Items, class Write>
std::string list(std::string_view key, const Items& items, Write&& write) {
  std::vector<std::string> lines;
  for (const auto& item : items) lines.push_back(write(item).in_line());
  return list(key, lines);
}

std::string cores_text(const std::vector<Core>& cores) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < cores.size();) {
    const Core& first = cores[i];
    std::vector<std::string> cpus;
    for (; i < cores.size() && cpus.size() < kCoresPerLine && cores[i].package == first.package &&
           cores[i].numa == first.numa && cores[i].l3 == first.l3;
         ++i)
      cpus.push_back(format_cpu_list(cores[i].cpus));
    Pairs pairs;
    pairs.index("package", first.package)
        .index("numa", first.numa)
        .index("l3", first.l3)
        .add("cpus", quoted(cpus));
    lines.push_back(pairs.in_line());
  }
  return list("cores", lines);
}

std::string machine_text(const Machine& m, const Topology& topology) {
  const auto at_switch = [&](int index) {
    return index == kNone ? std::string() : m.pcie_switches[static_cast<std::size_t>(index)].address;
  };
  std::vector<std::string> models;
  for (const Package& package : m.packages) models.push_back(package.model);
  std::string text = "\n[[machine]]\n" + Pairs().text("name", m.name).lines();
  if (!models.empty()) text += Pairs().add("packages", quoted(models)).lines();
  text += list("numa_nodes", m.numa_nodes, [](const NumaNode& n) {
    return Pairs().number("number", n.number).quantity("memory", n.memory_bytes, size_units());
  });
  text +=
      list("l3_caches", m.l3s, [](const L3& l3) { return Pairs().quantity("size", l3.bytes, size_units()); });
  text += cores_text(m.cores);
  text += list("pcie_switches", m.pcie_switches, [&](const PcieSwitch& s) {
    return Pairs()
        .text("address", s.address)
        .index("numa", s.numa)
        .text("parent", at_switch(s.parent))
        .rate("pcie_rate", s.pcie_rate);
  });
  text += list("gpus", m.gpus, [&](const Gpu& g) {
    return Pairs()
        .text("address", g.address)
        .text("model", g.model)
        .index("numa", g.numa)
        .text("pcie_switch", at_switch(g.pcie_switch))
        .rate("pcie_rate", g.pcie_rate);
  });
  text += list("gpu_links", m.gpu_links, [](const GpuLink& l) {
    return Pairs().index("gpu", l.a).index("to", l.b).rate("rate", l.rate);
  });
  return text + list("nics", m.nics, [&](const Nic& n) {
           return Pairs()
               .text("name", n.name)
               .text("rdma", n.rdma)
               .text("address", n.address)
               .rate("rate", n.rate)
               .index("numa", n.numa)
               .text("pcie_switch", at_switch(n.pcie_switch))
               .reference("rail", n.rail, topology.rails)
               .rate("pcie_rate", n.pcie_rate);
         });
}

}  // namespace

std::string format_topology(const Topology& t) {
  std::string text = "# A topology of Strata; `strata-topo --help` shows the format.\n";
  if (!t.levels.empty()) text += Pairs().add("levels", quoted(t.levels)).lines();
  for (const Group& g : t.groups)
    text += "\n[[group]]\n" + Pairs()
                                  .text("name", g.name)
                                  .text("level", t.levels[static_cast<std::size_t>(g.level)])
                                  .reference("in", g.parent, t.groups)
                                  .oversubscription(g.oversubscription)
                                  .lines();
  for (const Rail& r : t.rails)
    text += "\n[[rail]]\n" + Pairs().text("name", r.name).oversubscription(r.oversubscription).lines();
  for (const Machine& m : t.machines) text += machine_text(m, t);
  for (const Host& h : t.hosts) {
    Pairs pairs;
    pairs.text("name", h.name).reference("machine", h.machine, t.machines);
    if (h.slots > 0) pairs.number("slots", h.slots);
    text += "\n[[host]]\n" + pairs.reference("in", h.group, t.groups).lines();
  }
  for (const PairCost& c : t.costs)
    text += "\n[[cost]]\n" + Pairs()
                                 .text("level", c.level)
                                 .text("medium", c.medium)
                                 .quantity("latency", static_cast<std::uint64_t>(c.latency_ps), time_units())
                                 .rate("rate", c.rate)
                                 .lines();
  return text;
}

}  // namespace strata::topology
