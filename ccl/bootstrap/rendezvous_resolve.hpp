// From a rendezvous address to the system's socket addresses.
#pragma once
#include <sys/socket.h>

#include <string>
#include <vector>

#include "ccl/bootstrap/rendezvous_address.hpp"
#include "strata/status.hpp"

namespace strata::rendezvous {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress path_address(const std::string& path);
// Every address at the port, of either family.
SocketAddress any_address(int family, std::uint16_t port);
bool is_loopback(const SocketAddress& address);
std::string to_string(const SocketAddress& address);  // "10.0.0.1:29500", "[::1]:29500", or the path

// A numeric host gives one address, a name all that the system knows; a path one. May block as long as the
// system's resolver does. Error: unavailable that names the host and the resolver's reason.
Expected<std::vector<SocketAddress>> resolve(const RendezvousAddress& address);
bool is_numeric(const std::string& host);

}  // namespace strata::rendezvous
