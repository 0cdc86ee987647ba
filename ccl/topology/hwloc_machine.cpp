#include "ccl/topology/hwloc_machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/pcie.hpp"

namespace strata::topology {
namespace {

struct FreeTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Pci = hwloc_obj_attr_u::hwloc_pcidev_attr_s;
using Hwloc = std::unique_ptr<hwloc_topology, FreeTopology>;

Expected<Hwloc> load(const std::string& xml_file) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return Status(ErrorCode::unavailable, "hwloc cannot be initialised");
  Hwloc hwloc(made);
  // These open devices, or connect to an X server, to learn what is not asked of them. PCI devices are found
  // without "pci" too, by reading /sys, which leaks no memory.
  for (const char* component : {"pci", "gl", "opencl", "cuda", "nvml", "rsmi", "levelzero"})
    hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  const bool read = xml_file.empty() || hwloc_topology_set_xml(made, xml_file.c_str()) == 0;
  if (read && hwloc_topology_load(made) == 0) return hwloc;
  if (xml_file.empty())
    return Status(ErrorCode::unavailable,
                  "hwloc cannot see this machine; is /sys mounted? A topology file can be given instead");
  return Status(ErrorCode::invalid_argument,
                fmt::format("{} is not XML of hwloc 2; write it anew with: lstopo {}", xml_file, xml_file));
}

// What `lstopo` calls "info".
std::string info(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? std::string() : value;
}

class Converter final {
 public:
  explicit Converter(hwloc_topology_t hwloc) : hwloc_(hwloc) {}

  Machine run() {
    each(HWLOC_OBJ_PACKAGE, [&](hwloc_obj_t o) { machine_.packages.push_back({info(o, "CPUModel")}); });
    each(HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t o) {
      machine_.numa_nodes.push_back({static_cast<int>(o->os_index), o->attr->numanode.local_memory});
    });
    each(HWLOC_OBJ_L3CACHE, [&](hwloc_obj_t o) { machine_.l3s.push_back({o->attr->cache.size}); });
    const bool has_cores = hwloc_get_nbobjs_by_type(hwloc_, HWLOC_OBJ_CORE) > 0;
    each(has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, [&](hwloc_obj_t o) { add_core(o); });
    for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_pcidev(hwloc_, o)) != nullptr;) add_device(o);
    keep_joining_switches(machine_);
    return std::move(machine_);
  }

 private:
  template <class Do>
  void each(hwloc_obj_type_t type, Do&& visit) {
    for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(hwloc_, type, o)) != nullptr;) visit(o);
  }

  int ancestor(hwloc_obj_t object, hwloc_obj_type_t type) const {
    hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(hwloc_, type, object);
    return found == nullptr ? kNone : static_cast<int>(found->logical_index);
  }

  // Of a set of nodes the first that the machine has: memory of another kind beside a node comes later.
  int node(hwloc_const_bitmap_t nodes) const {
    if (nodes == nullptr) return kNone;
    for (int number = -1; (number = hwloc_bitmap_next(nodes, number)) >= 0;)
      if (hwloc_obj_t o = hwloc_get_numanode_obj_by_os_index(hwloc_, static_cast<unsigned>(number)))
        return static_cast<int>(o->logical_index);
    return kNone;
  }

  void add_core(hwloc_obj_t object) {
    Core core{
        ancestor(object, HWLOC_OBJ_PACKAGE), node(object->nodeset), ancestor(object, HWLOC_OBJ_L3CACHE), {}};
    for (int cpu = -1; (cpu = hwloc_bitmap_next(object->cpuset, cpu)) >= 0 && cpu < kCpusMax;)
      core.cpus.push_back(cpu);
    machine_.cores.push_back(std::move(core));
  }

  static std::string address(const Pci& pci) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
  }

  // hwloc's is in gigabytes a second.
  static BitsPerSecond rate_of(const Pci& pci) { return static_cast<BitsPerSecond>(pci.linkspeed * 8e9F); }

  // A device near several nodes is near none of them.
  int numa(hwloc_obj_t device) const {
    hwloc_obj_t parent = hwloc_get_non_io_ancestor_obj(hwloc_, device);
    const bool one =
        parent != nullptr && parent->nodeset != nullptr && hwloc_bitmap_weight(parent->nodeset) == 1;
    return one ? node(parent->nodeset) : kNone;
  }

  // The index of the switch or port that the object hangs on; it and those above are added if need be.
  int add_switch_above(hwloc_obj_t object) {
    hwloc_obj_t bridge = object->parent;
    if (bridge == nullptr || bridge->type != HWLOC_OBJ_BRIDGE ||
        bridge->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_PCI)
      return kNone;
    const std::string own = address(bridge->attr->bridge.upstream.pci);
    auto& switches = machine_.pcie_switches;
    const auto known =
        std::find_if(switches.begin(), switches.end(), [&](const PcieSwitch& s) { return s.address == own; });
    if (known != switches.end()) return static_cast<int>(known - switches.begin());
    const int parent = add_switch_above(bridge);
    switches.push_back({own, numa(bridge), parent, rate_of(bridge->attr->bridge.upstream.pci)});
    return static_cast<int>(switches.size()) - 1;
  }

  static bool is_gpu(const Pci& pci) {
    constexpr unsigned kVga = 0x0300, k3d = 0x0302, kDisplay = 0x0380, kAccelerator = 0x1200;
    constexpr unsigned kNvidia = 0x10de, kAmd = 0x1002;
    if (pci.class_id == k3d || pci.class_id == kAccelerator) return true;
    // Of those with a screen, most are the console of a server's management.
    return (pci.class_id == kVga || pci.class_id == kDisplay) &&
           (pci.vendor_id == kNvidia || pci.vendor_id == kAmd);
  }

  void add_device(hwloc_obj_t object) {
    const Pci& pci = object->attr->pcidev;
    if (is_gpu(pci))
      machine_.gpus.push_back(
          {address(pci), info(object, "PCIDevice"), numa(object), add_switch_above(object), rate_of(pci)});
    Nic nic{"", "", address(pci), 0, numa(object), kNone, kNone, rate_of(pci)};
    for (hwloc_obj_t o = object->io_first_child; o != nullptr; o = o->next_sibling) {
      if (o->type != HWLOC_OBJ_OS_DEVICE || o->name == nullptr) continue;
      if (o->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK && nic.name.empty()) nic.name = o->name;
      if (o->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS && nic.rdma.empty()) nic.rdma = o->name;
    }
    if (nic.name.empty()) nic.name = nic.rdma;
    if (nic.name.empty()) return;
    nic.pcie_switch = add_switch_above(object);
    machine_.nics.push_back(std::move(nic));
  }

  const hwloc_topology_t hwloc_;
  Machine machine_;
};

}  // namespace

Expected<Machine> hwloc_machine(const std::string& xml_file) {
  auto hwloc = load(xml_file);
  if (!hwloc) return hwloc.status();
  return Converter(hwloc->get()).run();
}

}  // namespace strata::topology
