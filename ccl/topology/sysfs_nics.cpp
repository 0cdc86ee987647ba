#include "ccl/topology/sysfs_nics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "ccl/topology/pcie.hpp"

namespace strata::topology {
namespace {

namespace fs = std::filesystem;

constexpr BitsPerSecond kMega = 1'000'000, kGiga = 1'000'000'000;
constexpr int kEthernet = 1, kInfiniband = 32;  // ARPHRD_

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The number that the text begins with; otherwise what there is instead.
double number(const std::string& text, double otherwise) {
  double value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

// Fills in what the device's place in /sys says. A virtio card is below its PCIe device.
void locate(const fs::path& device, SysfsNic& into) {
  std::error_code error;
  for (fs::path at = fs::canonical(device, error); !error && at.has_relative_path(); at = at.parent_path()) {
    const auto address = pcie_address(at.filename().string());
    if (!address) continue;
    into.nic.address = *address;
    into.numa_number = static_cast<int>(number(first_line(at / "numa_node"), kNone));
    return;
  }
}

// "100 Gb/sec (4X EDR)", of the ports that are active.
BitsPerSecond rate_of_ports(const fs::path& device) {
  BitsPerSecond rate = 0;
  for (const fs::path& port : entries(device / "ports"))
    if (first_line(port / "state").find("ACTIVE") != std::string::npos)
      rate += static_cast<BitsPerSecond>(std::max(0.0, number(first_line(port / "rate"), 0)) * kGiga);
  return rate;
}

void add_rdma(const fs::path& device, SysfsNics& found) {
  SysfsNic nic;
  nic.nic.name = nic.nic.rdma = device.filename().string();
  nic.nic.rate = rate_of_ports(device);
  locate(device / "device", nic);
  if (nic.nic.rate == 0)
    found.notes.push_back(fmt::format("{} is left out: no port of it is active", nic.nic.name));
  else
    found.nics.push_back(std::move(nic));
}

bool carries_data(const fs::path& interface) {
  const int type = static_cast<int>(number(first_line(interface / "type"), kNone));
  return type == kEthernet || type == kInfiniband;
}

void add_interface(const fs::path& interface, SysfsNics& found) {
  SysfsNic nic;
  nic.nic.name = interface.filename().string();
  if (const std::string state = first_line(interface / "operstate"); state != "up" && state != "unknown") {
    found.notes.push_back(
        fmt::format("{} is left out: its link is {}", nic.nic.name, state.empty() ? "?" : state));
    return;
  }
  locate(interface / "device", nic);
  const auto rdma = std::find_if(found.nics.begin(), found.nics.end(), [&](const SysfsNic& other) {
    return !other.nic.address.empty() && other.nic.address == nic.nic.address &&
           other.nic.name == other.nic.rdma;
  });
  if (rdma != found.nics.end()) {
    rdma->nic.name = nic.nic.name;
    return;
  }
  // A device in software names a rate of no meaning.
  std::error_code error;
  if (fs::exists(interface / "device", error))
    nic.nic.rate =
        static_cast<BitsPerSecond>(std::max(0.0, number(first_line(interface / "speed"), 0))) * kMega;
  if (nic.nic.rate == 0)
    found.notes.push_back(
        fmt::format("{} does not tell its rate (virtual cards do not); a topology file can", nic.nic.name));
  found.nics.push_back(std::move(nic));
}

}  // namespace

SysfsNics read_sysfs_nics(const fs::path& root) {
  SysfsNics found;
  for (const fs::path& device : entries(root / "sys/class/infiniband")) add_rdma(device, found);
  const auto interfaces = entries(root / "sys/class/net");
  std::error_code error;
  for (const fs::path& interface : interfaces)
    if (carries_data(interface) && fs::exists(interface / "device", error)) add_interface(interface, found);
  if (found.nics.empty())
    for (const fs::path& interface : interfaces)
      if (carries_data(interface) && !fs::exists(interface / "bridge", error))
        add_interface(interface, found);
  std::sort(found.nics.begin(), found.nics.end(),
            [](const SysfsNic& a, const SysfsNic& b) { return a.nic.name < b.nic.name; });
  return found;
}

}  // namespace strata::topology
