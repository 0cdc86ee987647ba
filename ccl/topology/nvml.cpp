#include "ccl/topology/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "ccl/topology/nvlink.hpp"
#include "ccl/topology/pcie.hpp"

namespace strata::topology {
namespace {

constexpr int kSwitch = 2;  // NVML_NVLINK_DEVICE_TYPE_SWITCH
constexpr unsigned kLinksMax = 36, kGpusMax = 64;

// The part of NVML's binary interface that is used; it is stable, each function's version is in its name.
using Device = void*;
struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

class Library final {
 public:
  explicit Library(const std::string& name) : handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  bool loaded() const { return handle_ != nullptr; }

  // 0 if the function ran and was content; -1: the library has none of that name.
  template <class... A>
  int call(const char* function, A... arguments) const {
    auto* const f = reinterpret_cast<int (*)(A...)>(::dlsym(handle_.get(), function));
    return f == nullptr ? -1 : f(arguments...);
  }

 private:
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  std::unique_ptr<void, Close> handle_;
};

std::string address_of(PciInfo& info) {
  info.bus_id[sizeof info.bus_id - 1] = '\0';
  return pcie_address(info.bus_id).value_or("");
}

NvmlGpu read_gpu(const Library& nvml, Device device) {
  NvmlGpu gpu;
  PciInfo pci{};
  if (nvml.call("nvmlDeviceGetPciInfo_v3", device, &pci) == 0) gpu.address = address_of(pci);
  std::array<char, 96> name{};
  if (nvml.call("nvmlDeviceGetName", device, name.data(), static_cast<unsigned>(name.size() - 1)) == 0)
    gpu.model = name.data();
  int major = 0, minor = 0;
  if (nvml.call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor) == 0)
    gpu.compute_capability = 10 * major + minor;
  for (unsigned link = 0; link < kLinksMax; ++link) {
    int active = 0, type = kNone;
    if (nvml.call("nvmlDeviceGetNvLinkState", device, link, &active) != 0 || active != 1) continue;
    nvml.call("nvmlDeviceGetNvLinkRemoteDeviceType", device, link, &type);
    PciInfo remote{};
    if (type == kSwitch)
      gpu.lanes.push_back({"", true});
    else if (nvml.call("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, &remote) == 0)
      gpu.lanes.push_back({address_of(remote), false});
  }
  return gpu;
}

}  // namespace

NvmlGpus read_nvml(const std::string& library) {
  const Library nvml(library);
  if (!nvml.loaded())
    return {
        {},
        fmt::format("the links of NVIDIA GPUs are not known: {} is not installed (it comes with the driver)",
                    library)};
  if (const int code = nvml.call("nvmlInit_v2"); code != 0)
    return {{},
            fmt::format(
                "the links of NVIDIA GPUs are not known: nvmlInit_v2 of {} gave {}; nvidia-smi may say why",
                library, code)};
  NvmlGpus found;
  unsigned count = 0;
  nvml.call("nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < std::min(count, kGpusMax); ++i) {
    Device device = nullptr;
    if (nvml.call("nvmlDeviceGetHandleByIndex_v2", i, &device) != 0) continue;
    if (NvmlGpu gpu = read_gpu(nvml, device); !gpu.address.empty()) found.gpus.push_back(std::move(gpu));
  }
  nvml.call("nvmlShutdown");
  return found;
}

void add_nvml(const NvmlGpus& gpus, Machine& machine) {
  std::vector<NvLanes> lanes;
  for (const NvmlGpu& gpu : gpus.gpus) {
    auto known = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                              [&](const Gpu& g) { return g.address == gpu.address; });
    if (known == machine.gpus.end()) known = machine.gpus.insert(known, Gpu{gpu.address, "", kNone, kNone});
    if (!gpu.model.empty()) known->model = gpu.model;
    for (const NvmlGpu::Lane& lane : gpu.lanes)
      lanes.push_back({static_cast<int>(known - machine.gpus.begin()), lane.target, 1, gpu.compute_capability,
                       lane.to_switch});
  }
  add_nvlinks(lanes, machine);
}

}  // namespace strata::topology
