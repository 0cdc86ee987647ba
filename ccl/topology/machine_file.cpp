#include "ccl/topology/machine_file.hpp"

#include <algorithm>
#include <set>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/pcie.hpp"

namespace strata::topology {
namespace {

class Reader final {
 public:
  Reader(Toml& file, const toml::table& table, std::span<const std::string> rails)
      : file_(file),
        rails_(rails),
        all_(file, table, "[[machine]]",
             {"name", "packages", "numa_nodes", "l3_caches", "cores", "pcie_switches", "gpus", "gpu_links",
              "nics"}) {}

  Machine run() {
    machine_.name = all_.required_text("name");
    for (const std::string& model : all_.texts("packages")) machine_.packages.push_back({model});
    for (const toml::table* table : all_.tables("numa_nodes")) {
      Fields f(file_, *table, "numa_nodes", {"number", "memory"});
      machine_.numa_nodes.push_back(
          {f.integer("number", kNone, kCpusMax, 0), f.quantity("memory", size_units())});
    }
    for (const toml::table* table : all_.tables("l3_caches")) {
      Fields f(file_, *table, "l3_caches", {"size"});
      machine_.l3s.push_back({f.quantity("size", size_units())});
    }
    for (const toml::table* table : all_.tables("cores")) read_cores(*table);
    read_switches();
    for (const toml::table* table : all_.tables("gpus")) read_gpu(*table);
    for (const toml::table* table : all_.tables("gpu_links")) read_gpu_link(*table);
    for (const toml::table* table : all_.tables("nics")) read_nic(*table);
    return std::move(machine_);
  }

 private:
  // Cores that are alike share a table: each text of cpus is one of them.
  void read_cores(const toml::table& table) {
    Fields f(file_, table, "cores", {"package", "numa", "l3", "cpus"});
    const Core like{f.index("package", machine_.packages.size()),
                    f.index("numa", machine_.numa_nodes.size()),
                    f.index("l3", machine_.l3s.size()),
                    {}};
    for (const std::string& cpus : f.texts("cpus")) {
      auto list = parse_cpu_list(cpus);
      if (!list) return f.fail("cpus", std::string(list.status().message()));
      for (const int cpu : *list)
        if (!seen_cpus_.insert(cpu).second)
          return f.fail("cpus", fmt::format("CPU {} is in two cores; put it into one", cpu));
      machine_.cores.push_back(like);
      machine_.cores.back().cpus = std::move(*list);
    }
  }

  std::string address(Fields& f) {
    const std::string text = f.text("address");
    if (text.empty()) return {};
    if (const auto address = pcie_address(text)) return *address;
    f.fail("address", fmt::format("address = '{}': must be a PCIe address as in 0000:07:00.0", text));
    return {};
  }

  void read_switches() {
    std::vector<Fields> fields;
    for (const toml::table* table : all_.tables("pcie_switches")) {
      fields.emplace_back(file_, *table, "pcie_switches",
                          std::initializer_list<std::string_view>{"address", "numa", "parent", "pcie_rate"});
      Fields& f = fields.back();
      f.required_text("address");
      const std::string own = address(f);
      if (std::find(switches_.begin(), switches_.end(), own) != switches_.end())
        f.fail("address", fmt::format("there are two switches at {}; give one its own address", own));
      switches_.push_back(own);
      machine_.pcie_switches.push_back(
          {own, f.index("numa", machine_.numa_nodes.size()), kNone, f.quantity("pcie_rate", rate_units())});
    }
    for (std::size_t i = 0; i < fields.size(); ++i)
      machine_.pcie_switches[i].parent = fields[i].reference("parent", switches_, "switch");
    for (std::size_t i = 0; i < fields.size(); ++i) {
      std::size_t steps = 0;
      for (int up = static_cast<int>(i); up != kNone;
           up = machine_.pcie_switches[static_cast<std::size_t>(up)].parent)
        if (++steps > fields.size())
          return fields[i].fail(
              "parent", fmt::format("switch {} hangs on itself; take one 'parent' away", switches_[i]));
    }
  }

  void read_gpu(const toml::table& table) {
    Fields f(file_, table, "gpus", {"address", "model", "numa", "pcie_switch", "pcie_rate"});
    f.required_text("address");
    const std::string own = address(f);
    const bool twice = std::any_of(machine_.gpus.begin(), machine_.gpus.end(),
                                   [&](const Gpu& g) { return g.address == own; });
    if (twice) f.fail("address", fmt::format("there are two GPUs at {}; give one its own address", own));
    machine_.gpus.push_back({own, f.text("model"), f.index("numa", machine_.numa_nodes.size()),
                             f.reference("pcie_switch", switches_, "switch"),
                             f.quantity("pcie_rate", rate_units())});
  }

  void read_gpu_link(const toml::table& table) {
    Fields f(file_, table, "gpu_links", {"gpu", "to", "rate"});
    GpuLink link{f.index("gpu", machine_.gpus.size()), f.index("to", machine_.gpus.size()),
                 f.quantity("rate", rate_units())};
    if (link.a == kNone) return f.fail("gpu", "gpu is missing; add gpu = 0, an index into gpus");
    if (link.a == link.b)
      return f.fail("to", fmt::format("GPU {} is linked to itself; name another one", link.a));
    machine_.gpu_links.push_back(link);
  }

  void read_nic(const toml::table& table) {
    Fields f(file_, table, "nics",
             {"name", "rdma", "address", "rate", "numa", "pcie_switch", "rail", "pcie_rate"});
    machine_.nics.push_back({f.required_text("name"), f.text("rdma"), address(f),
                             f.quantity("rate", rate_units()), f.index("numa", machine_.numa_nodes.size()),
                             f.reference("pcie_switch", switches_, "switch"),
                             f.reference("rail", rails_, "[[rail]]"), f.quantity("pcie_rate", rate_units())});
  }

  Toml& file_;
  const std::span<const std::string> rails_;
  Fields all_;
  Machine machine_;
  std::vector<std::string> switches_;  // their addresses
  std::set<int> seen_cpus_;
};

}  // namespace

Machine read_machine(Toml& file, const toml::table& table, std::span<const std::string> rails) {
  return Reader(file, table, rails).run();
}

}  // namespace strata::topology
