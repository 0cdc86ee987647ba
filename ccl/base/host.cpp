#include "ccl/base/host.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <fstream>

namespace strata {
namespace {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown-host";
  return name.data();
}

// New at every boot, and the same for all containers of one kernel.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

// "net:[4026531840]"; processes with equal ones have the same loopback and the same abstract sockets.
std::string network_namespace() {
  std::array<char, 64> target{};
  const ssize_t length = ::readlink("/proc/self/ns/net", target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

Host this_host() {
  Host host{host_name(), {}, static_cast<int>(::getpid())};
  const std::string boot = boot_id();
  // Where /proc is hidden the name must do: hosts of one job have different ones.
  host.id = (boot.empty() ? host.name : boot) + "/" + network_namespace();
  return host;
}

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "";
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(':'); line.starts_with("model name") && colon != line.npos)
      return line.substr(colon + 1);
  return {};
}

}  // namespace strata
