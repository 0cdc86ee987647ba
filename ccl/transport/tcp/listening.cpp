#include "ccl/transport/tcp/listening.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <cerrno>

#include "ccl/base/check.hpp"
#include "ccl/base/errno_status.hpp"
#include "ccl/base/host.hpp"
#include "ccl/base/log.hpp"
#include "ccl/transport/fd_limit.hpp"
#include "ccl/transport/tcp/socket_options.hpp"

namespace strata::tcp {
namespace {

constexpr std::size_t kDescriptorsNeeded = 16;  // before any peer is connected

// `name` is at's address as text, made before: making it would overwrite errno.
Expected<Fd> make_socket(const asio::ip::tcp::endpoint& at, const std::string& name) {
  Fd socket(::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!socket.valid()) return open_failed("socket", name, kDescriptorsNeeded);
  const int on = 1;
  // Ports of earlier jobs in TIME_WAIT are free to use; two listeners on one port are refused all the same.
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
    return errno_status("setsockopt(SO_REUSEADDR)", name);
  if (at.protocol() == asio::ip::tcp::v6() &&
      ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0)
    return errno_status("setsockopt(IPV6_V6ONLY)", name);
  return socket;
}

std::uint16_t bound_port(const Fd& socket) {
  asio::ip::tcp::endpoint at;
  auto length = static_cast<socklen_t>(at.capacity());
  const int failed = ::getsockname(socket.get(), at.data(), &length);
  STRATA_CHECK(failed == 0, errno);
  at.resize(length);
  return at.port();
}

// A socket bound and listening, an invalid one if the port is taken, or what is wrong.
Expected<Fd> try_port(const asio::ip::tcp::endpoint& at) {
  const std::string name =
      to_text(Endpoint{at.address().to_string(), at.port(), at.address().is_v6(), false});
  Expected<Fd> socket = make_socket(at, name);
  if (!socket) return socket.status();
  const bool bound = ::bind(socket->get(), at.data(), static_cast<socklen_t>(at.size())) == 0;
  if (bound && ::listen(socket->get(), SOMAXCONN) == 0) return socket;
  if (errno == EADDRINUSE && at.port() != 0) return Fd();
  return errno_status(bound ? "listen" : "bind", name);
}

// The chosen address, then the interface's others (dual stack).
std::vector<NetworkInterface> addresses_of(std::span<const NetworkInterface> interfaces,
                                           const NetworkInterface& chosen, bool only_chosen) {
  std::vector<NetworkInterface> offered{chosen};
  for (const NetworkInterface& i : interfaces)
    if (!only_chosen && i.name == chosen.name && i.up && !i.link_local && i.address != chosen.address)
      offered.push_back(i);
  return offered;
}

// For ranks of this host; null: there is none.
const NetworkInterface* loopback_of(std::span<const NetworkInterface> interfaces) {
  for (const bool ipv6 : {false, true})
    for (const NetworkInterface& i : interfaces)
      if (i.loopback && i.up && i.ipv6 == ipv6) return &i;
  return nullptr;
}

Status check_ports(const TcpOptions& options) {
  if (options.port_min <= options.port_max && (options.port_min != 0 || options.port_max == 0)) return {};
  return {ErrorCode::invalid_argument,
          fmt::format("port range {}-{}: give the first and the last port, both from 1 to 65535, or neither",
                      options.port_min, options.port_max)};
}

}  // namespace

Expected<ListeningSocket> listen_on(const std::string& address, std::uint16_t port_min,
                                    std::uint16_t port_max, const std::string& interface) {
  std::error_code error;
  const asio::ip::address where = asio::ip::make_address(address, error);
  STRATA_CHECK(!error, address);
  for (unsigned port = port_min; port <= port_max; ++port) {
    Expected<Fd> socket = try_port({where, static_cast<std::uint16_t>(port)});
    if (!socket) return socket.status();
    if (!socket->valid()) continue;
    ListeningSocket made;
    made.endpoint = {address, bound_port(*socket), where.is_v6(), where.is_loopback()};
    if (!interface.empty() && stay_on(interface, socket->get())) made.interface = interface;
    made.socket = std::move(*socket);
    return made;
  }
  const Host host = this_host();
  return Status(
      ErrorCode::unavailable,
      fmt::format("TCP: all ports from {} to {} are taken on {} (host {}, process {}): each rank of a host "
                  "needs one, give a wider range",
                  port_min, port_max, address, host.name, host.pid));
}

Expected<std::vector<ListeningSocket>> listen_for_peers(std::span<const NetworkInterface> interfaces,
                                                        const TcpOptions& options) {
  if (Status s = check_ports(options); !s.ok()) return s;
  const auto rails = choose_interfaces(interfaces, options.interface);
  if (!rails) return rails.status();
  if (rails->size() > kRailsMax)
    return Status(ErrorCode::invalid_argument,
                  fmt::format("\"{}\" names {} network interfaces; at most {} are used at once",
                              options.interface, rails->size(), kRailsMax));
  std::vector<ListeningSocket> sockets;
  const auto listen = [&](const NetworkInterface& i, std::uint32_t rail) -> Status {
    const bool apart = rails->size() > 1 && !i.loopback;
    Expected<ListeningSocket> socket =
        listen_on(i.address, options.port_min, options.port_max, apart ? i.name : std::string());
    if (!socket.ok()) return socket.status();
    ListeningSocket& added = sockets.emplace_back(std::move(socket).value());
    added.endpoint.rail = rail;
    return {};
  };
  for (std::uint32_t rail = 0; rail < rails->size(); ++rail) {
    const auto& [chosen, reason] = (*rails)[rail];
    log::info("TCP uses interface {} with address {}: {}", chosen.name, chosen.address, reason);
    for (const NetworkInterface& i : addresses_of(interfaces, chosen, options.interface == chosen.address)) {
      const Status status = listen(i, rail);
      if (!status.ok() && (i.address == chosen.address || i.loopback)) return status;
      if (!status.ok())
        log::info("TCP does not use address {} of {}: {}", i.address, i.name, status.message());
    }
  }
  const NetworkInterface* loopback = loopback_of(interfaces);
  if (loopback == nullptr || rails->front().interface.loopback) return sockets;
  if (Status s = listen(*loopback, 0); !s.ok()) return s;
  return sockets;
}

}  // namespace strata::tcp
