// Which host and which process this is, as others must know it.
#pragma once
#include <string>

#include "strata/status.hpp"

namespace strata {

struct Host {
  std::string name;  // for people: gethostname
  std::string
      id;  // equal exactly when two processes can share memory and loopback: boot id and network namespace
  int pid = 0;
};
Host this_host();

// The kernel's, "6.1.0-18-amd64".
std::string kernel_release();

// The CPU's name as it gives it itself; empty where the system does not say.
std::string cpu_model();

}  // namespace strata
