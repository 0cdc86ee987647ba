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
  std::uint32_t rail = 0;  // which of the host's interfaces, in the order in which they were asked for
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
std::string to_text(const Endpoint& endpoint);  // "127.0.0.1:5000", "[::1]:5000"

struct TcpDescriptor {
  std::string host_id;              // Host::id
  std::string host_name;            // for messages
  std::uint32_t streams = 1;        // TcpOptions::streams: on each rail
  std::vector<Endpoint> endpoints;  // the preferred one first
};
std::string to_text(const TcpDescriptor& descriptor);
Expected<TcpDescriptor> parse_tcp_descriptor(std::string_view text);

// Where `mine` connects to reach `theirs`, the best first: on one host its loopback, so that such a job never
// leaves it; between hosts never a loopback, and only families of addresses that both have on the rail.
// Empty: not reachable.
std::vector<Endpoint> ways(const TcpDescriptor& mine, const TcpDescriptor& theirs, std::uint32_t rail = 0);

// How many rails the two have in common, the same seen from either: between hosts, the i-th of one with the
// i-th of the other, as many as both have.
std::uint32_t rails(const TcpDescriptor& mine, const TcpDescriptor& theirs);
// How many connections they have: on each rail the smaller of what both want. Connection s is on rail
// s % rails().
std::uint32_t streams(const TcpDescriptor& mine, const TcpDescriptor& theirs);

// Whether each has a way to the other on every rail.
bool reachable(const TcpDescriptor& mine, const TcpDescriptor& theirs);
// Why it has not, and the cure.
std::string why_unreachable(const TcpDescriptor& mine, const TcpDescriptor& theirs);

}  // namespace strata::tcp
