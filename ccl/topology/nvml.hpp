// GPUs and their links, by NVIDIA's management library where it is installed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ccl/topology/topology.hpp"

namespace strata::topology {

struct NvmlGpu {
  std::string address, model;
  int compute_capability = 0;  // 80 for 8.0
  struct Lane {
    std::string target;  // the PCIe address at its other end
    bool to_switch = false;
  };
  std::vector<Lane> lanes;  // those that are active
};

struct NvmlGpus {
  std::vector<NvmlGpu> gpus;
  std::string note;  // why there are none; empty: there is nothing to say
};

// library: what dlopen() takes. Needs no NVIDIA software to be built or to run.
NvmlGpus read_nvml(const std::string& library);

// Adds their models and links to the machine's GPUs, and GPUs that it does not know yet.
void add_nvml(const NvmlGpus& gpus, Machine& machine);

}  // namespace strata::topology
