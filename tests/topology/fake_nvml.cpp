// A management library of two GPUs that are joined by two lanes each way and have four each to a switch.
#include <cstdio>
#include <cstring>

namespace {

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

int gpus[2] = {0, 1};
const char* const kAddresses[] = {"00000000:12:00.0", "00000000:81:00.0"};

int number_of(void* device) { return *static_cast<int*>(device); }

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return *device = &gpus[index], 0; }

int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, "%s", kAddresses[number_of(device)]);
  return 0;
}

int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::snprintf(name, length, "Fake GPU");
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) { return *major = 8, *minor = 0, 0; }

int nvmlDeviceGetNvLinkState(void*, unsigned link, int* active) {
  if (link > 7) return 2;                 // NVML_ERROR_INVALID_ARGUMENT
  return *active = link == 6 ? 0 : 1, 0;  // one that is down
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, PciInfo* info) {
  const char* const other = link < 2 ? kAddresses[1 - number_of(device)] : "00000000:C0:00.0";
  std::snprintf(info->bus_id, sizeof info->bus_id, "%s", other);
  return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned link, int* type) {
  return *type = link < 2 ? 0 : 2, 0;
}

}  // extern "C"
