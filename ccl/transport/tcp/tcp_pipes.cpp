#include "ccl/transport/tcp/tcp_pipes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ccl/base/check.hpp"
#include "ccl/base/host.hpp"
#include "ccl/transport/tcp/meeting.hpp"
#include "ccl/transport/tcp/tcp_pipe_set.hpp"

namespace strata::tcp {

Expected<std::string> TcpPipes::descriptor() {
  const Expected<std::vector<NetworkInterface>> interfaces = list_network_interfaces();
  if (!interfaces) return interfaces.status();
  Expected<std::vector<ListeningSocket>> listeners = listen_for_peers(*interfaces, options_);
  if (!listeners) return listeners.status();
  listeners_ = std::move(*listeners);
  const Host host = this_host();
  TcpDescriptor descriptor{host.id, host.name, options_.streams, {}};
  for (const ListeningSocket& l : listeners_) descriptor.endpoints.push_back(l.endpoint);
  return to_text(descriptor);
}

Expected<std::unique_ptr<PipeSet>> TcpPipes::connect(Exchange& exchange,
                                                     std::span<const std::string> descriptors,
                                                     std::span<const Rank> peers) {
  STRATA_CHECK(!listeners_.empty(), "descriptor() comes first");
  std::vector<TcpDescriptor> parsed(descriptors.size());
  std::vector<Rank> involved(peers.begin(), peers.end());
  involved.push_back(exchange.rank());
  for (const Rank rank : involved) {
    Expected<TcpDescriptor> descriptor = parse_tcp_descriptor(descriptors[static_cast<std::size_t>(rank)]);
    if (!descriptor)
      return Status(descriptor.status().code(),
                    fmt::format("rank {}: {}", rank, descriptor.status().message()));
    parsed[static_cast<std::size_t>(rank)] = std::move(*descriptor);
  }
  STRATA_CHECK(std::find(peers.begin(), peers.end(), exchange.rank()) == peers.end(), exchange.rank());
  Expected<std::vector<Connection>> connections = meet(exchange, listeners_, parsed, peers);
  listeners_.clear();
  if (!connections) return connections.status();
  return TcpPipeSet::create(std::move(*connections), {options_.credit_bytes, options_.fragment_bytes});
}

}  // namespace strata::tcp
