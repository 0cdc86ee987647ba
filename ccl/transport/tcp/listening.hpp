// The sockets on which peers call: on the chosen interfaces and, for ranks of the same host, on the loopback.
#pragma once
#include <vector>

#include "ccl/base/fd.hpp"
#include "ccl/base/network_interface.hpp"
#include "ccl/transport/factories.hpp"
#include "ccl/transport/tcp/tcp_descriptor.hpp"

namespace strata::tcp {

struct ListeningSocket {
  Fd socket;
  Endpoint endpoint;
  std::string interface;  // that it is bound to; empty: routes decide
};

// On a port of the range (0, 0: any). Error: unavailable, naming address and range.
Expected<ListeningSocket> listen_on(const std::string& address, std::uint16_t port_min,
                                    std::uint16_t port_max, const std::string& interface = "");

// The chosen addresses first, rail by rail. Logs which interfaces were chosen, and why.
Expected<std::vector<ListeningSocket>> listen_for_peers(std::span<const NetworkInterface> interfaces,
                                                        const TcpOptions& options);

}  // namespace strata::tcp
