// The machine's network interfaces, and which one of them carries the job.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"

namespace strata {

struct NetworkInterface {
  std::string name;
  std::string address;  // numeric, IPv4 or IPv6, without scope
  bool ipv6 = false;
  bool up = false;
  bool no_carrier = false;  // it would be up, but its cable, or the other end of it, is not there
  bool loopback = false;
  bool link_local = false;
  bool container_bridge = false;  // docker0, br-*, virbr*, cni*, veth*, ...
};

// A carrier comes up to a second after its interface. While there is nothing but loopback and one that may
// still come, this waits for it, for at most kCarrierWait, and says so.
Expected<std::vector<NetworkInterface>> list_network_interfaces();
inline constexpr std::chrono::milliseconds kCarrierWait{1500};

// The interface whose carrier is worth waiting for; null: another one is usable already, or none may come.
const NetworkInterface* awaited(std::span<const NetworkInterface> interfaces);

struct ChosenInterface {
  NetworkInterface interface;
  std::string reason;  // for the log
};
// spec: a name, a prefix ended by '*', an address, or empty (automatic: up, not loopback, not link-local, not
// a bridge of containers, IPv4 first; a bridge or loopback only if there is nothing else). Pure. Error:
// invalid_argument that names the spec and lists the interfaces there are.
Expected<ChosenInterface> choose_interface(std::span<const NetworkInterface> interfaces,
                                           std::string_view spec);
// One for each spec of a list with commas, in its order; for an empty list the automatic one. Errors: as
// above, and invalid_argument if two are the same interface.
Expected<std::vector<ChosenInterface>> choose_interfaces(std::span<const NetworkInterface> interfaces,
                                                         std::string_view specs);

}  // namespace strata
