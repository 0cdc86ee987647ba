#include "ccl/base/network_interface.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include "ccl/base/errno_status.hpp"
#include "ccl/base/log.hpp"

namespace strata {
namespace {

bool has_prefix_of(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return name.starts_with(p); });
}

bool is_container_bridge(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {
      "docker", "br-",  "virbr",   "vnet",  "veth",  "cni",          "cbr",    "lxcbr", "lxdbr",
      "podman", "cali", "flannel", "weave", "kube-", "nodelocaldns", "cilium", "lxc"};
  return has_prefix_of(name, kPrefixes);
}

// Tunnels reach few peers and are slow: worse than a card, better than a bridge of containers.
bool is_tunnel(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {"tun", "tap", "wg", "tailscale", "zt", "ppp"};
  return has_prefix_of(name, kPrefixes);
}

// Smaller is better; kNever: not without being asked for by name or address.
constexpr int kNever = 100;
int preference(const NetworkInterface& i) {
  if (!i.up) return kNever;
  if (i.link_local && i.ipv6) return kNever;  // useless without its scope
  if (i.loopback) return 8 + i.ipv6;
  if (i.container_bridge) return 6 + i.ipv6;
  if (i.link_local) return 4;
  if (is_tunnel(i.name)) return 2 + i.ipv6;
  return i.ipv6;
}

std::string label(const NetworkInterface& i) { return fmt::format("{} ({})", i.name, i.address); }

std::string list_of(std::span<const NetworkInterface> interfaces) {
  std::string text;
  for (const NetworkInterface& i : interfaces)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", label(i),
                        i.up           ? ""
                        : i.no_carrier ? " which has no carrier"
                                       : " which is down");
  return text.empty() ? "none" : text;
}

// The address in the form the system writes it, so that equal ones compare equal; empty: not an address.
std::string canonical(std::string_view text) {
  const std::string copy(text);
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> written{};
  for (const int family : {AF_INET, AF_INET6})
    if (::inet_pton(family, copy.c_str(), bytes.data()) == 1)
      return ::inet_ntop(family, bytes.data(), written.data(), written.size());
  return {};
}

bool matches(const NetworkInterface& i, std::string_view spec, std::string_view address) {
  if (!address.empty()) return canonical(i.address) == address;
  if (spec.ends_with('*')) return i.name.starts_with(spec.substr(0, spec.size() - 1));
  return i.name == spec;
}

Status none_fits(std::span<const NetworkInterface> all, std::string_view spec, std::string_view why) {
  if (spec.empty())
    return {ErrorCode::unavailable, fmt::format("no network interface is up; there are: {}", list_of(all))};
  return {ErrorCode::invalid_argument,
          fmt::format("the network interface \"{}\" {}; STRATA_INTERFACE may be the name of one, a prefix "
                      "ended by '*', an address, or several of these with commas between; there are: {}",
                      spec, why, list_of(all))};
}

std::string reason_for(std::string_view spec, const NetworkInterface& best,
                       std::span<const NetworkInterface> usable) {
  std::string others;
  for (const NetworkInterface& i : usable)
    if (i.name != best.name) others += fmt::format("{}{}", others.empty() ? "" : ", ", label(i));
  if (!spec.empty()) return fmt::format("asked for by \"{}\"", spec);
  if (best.loopback) return "only loopback is up: no other host can be reached";
  if (best.container_bridge) return "there is nothing but bridges of containers";
  if (others.empty()) return "the only one that is up";
  return fmt::format("the best of those that are up; others: {}; STRATA_INTERFACE chooses", others);
}

NetworkInterface describe(const ifaddrs& entry) {
  NetworkInterface i;
  i.name = entry.ifa_name;
  i.ipv6 = entry.ifa_addr->sa_family == AF_INET6;
  // Running too: a card without its cable is up, but carries nothing.
  i.up = (entry.ifa_flags & IFF_UP) != 0 && (entry.ifa_flags & IFF_RUNNING) != 0;
  i.no_carrier = (entry.ifa_flags & IFF_UP) != 0 && !i.up;
  i.loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  i.container_bridge = is_container_bridge(i.name);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (i.ipv6) {
    const auto& address = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr;
    i.link_local = IN6_IS_ADDR_LINKLOCAL(&address);
    ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  } else {
    const auto& address = reinterpret_cast<const sockaddr_in*>(entry.ifa_addr)->sin_addr;
    i.link_local = (ntohl(address.s_addr) >> 16) == 0xa9fe;  // 169.254/16
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
  }
  i.address = text.data();
  return i;
}

Expected<std::vector<NetworkInterface>> list_now() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return errno_status("getifaddrs", "all network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  std::vector<NetworkInterface> all;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if (entry->ifa_addr->sa_family != AF_INET && entry->ifa_addr->sa_family != AF_INET6) continue;
    all.push_back(describe(*entry));
  }
  return all;
}

}  // namespace

const NetworkInterface* awaited(std::span<const NetworkInterface> interfaces) {
  const NetworkInterface* found = nullptr;
  for (const NetworkInterface& i : interfaces) {
    if (i.loopback || (i.link_local && i.ipv6)) continue;
    if (i.up) return nullptr;
    // A bridge without containers never has one; what joins a container to it gets one.
    const bool may_come = !i.container_bridge || i.name.starts_with("veth");
    if (i.no_carrier && may_come && found == nullptr) found = &i;
  }
  return found;
}

Expected<std::vector<NetworkInterface>> list_network_interfaces() {
  constexpr std::chrono::milliseconds kLookEvery{20};
  const auto give_up = std::chrono::steady_clock::now() + kCarrierWait;
  auto all = list_now();
  if (!all || awaited(*all) == nullptr) return all;
  const std::string name = awaited(*all)->name;
  log::info("{} has no carrier yet: waiting for it, for at most {} ms", name, kCarrierWait.count());
  while (all && awaited(*all) != nullptr && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(kLookEvery);
    all = list_now();
  }
  if (all && awaited(*all) != nullptr)
    log::warn("{} is up but has no carrier: without it only ranks of this host can be reached", name);
  return all;
}

Expected<ChosenInterface> choose_interface(std::span<const NetworkInterface> interfaces,
                                           std::string_view spec) {
  const std::string address = canonical(spec);
  std::vector<NetworkInterface> usable;
  std::string_view why = "does not exist on this host";
  for (const NetworkInterface& i : interfaces) {
    if (!spec.empty() && !matches(i, spec, address)) continue;
    why = i.up ? "has only a link-local IPv6 address" : i.no_carrier ? "has no carrier" : "is down";
    // An address given in full is meant as given; otherwise one must be usable without its scope.
    if (i.up && (preference(i) < kNever || !address.empty())) usable.push_back(i);
  }
  if (usable.empty()) return none_fits(interfaces, spec, why);
  const auto better = [](const auto& a, const auto& b) { return preference(a) < preference(b); };
  const NetworkInterface best = *std::min_element(usable.begin(), usable.end(), better);
  return ChosenInterface{best, reason_for(spec, best, usable)};
}

Expected<std::vector<ChosenInterface>> choose_interfaces(std::span<const NetworkInterface> interfaces,
                                                         std::string_view specs) {
  std::vector<ChosenInterface> all;
  for (std::size_t begin = 0, end = 0; begin <= specs.size(); begin = end + 1) {
    end = std::min(specs.find(',', begin), specs.size());
    const std::string_view spec = specs.substr(begin, end - begin);
    if (spec.empty() && !specs.empty())
      return Status(ErrorCode::invalid_argument,
                    fmt::format("the network interfaces \"{}\" have a comma too many", specs));
    Expected<ChosenInterface> chosen = choose_interface(interfaces, spec);
    if (!chosen) return chosen.status();
    for (const ChosenInterface& other : all)
      if (other.interface.name == chosen->interface.name)
        return Status(ErrorCode::invalid_argument,
                      fmt::format("the network interfaces \"{}\" name {} twice; name each once", specs,
                                  other.interface.name));
    all.push_back(std::move(*chosen));
  }
  return all;
}

}  // namespace strata
