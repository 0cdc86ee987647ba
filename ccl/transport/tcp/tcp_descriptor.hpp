// What a rank publishes so that others connect to it, and which of its endpoints a given peer should use.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"

namespace strata::tcp {

struct Endpoint {
  std::string address;  // numeric
  std::uint16_t port = 0;
  bool ipv6 = false;
  bool loopback = false;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
std::string to_text(const Endpoint& endpoint);  // "127.0.0.1:5000", "[::1]:5000"

struct TcpDescriptor {
  std::string host_id;              // Host::id
  std::string host_name;            // for messages
  std::uint32_t streams = 1;        // TcpOptions::streams
  std::vector<Endpoint> endpoints;  // the preferred one first
};
std::string to_text(const TcpDescriptor& descriptor);
Expected<TcpDescriptor> parse_tcp_descriptor(std::string_view text);

// Where `mine` connects to reach `theirs`, the best first: on one host its loopback, so that such a job never
// leaves it; between hosts never a loopback, and only families of addresses that both have. Empty: not
// reachable.
std::vector<Endpoint> ways(const TcpDescriptor& mine, const TcpDescriptor& theirs);

// How many connections the two have, the same seen from either: the smaller of what both want.
std::uint32_t streams(const TcpDescriptor& mine, const TcpDescriptor& theirs);

// Why ways() is empty, and the cure.
std::string why_unreachable(const TcpDescriptor& mine, const TcpDescriptor& theirs);

}  // namespace strata::tcp
