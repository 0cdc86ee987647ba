// Where ranks meet, taken apart.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "strata/status.hpp"

namespace strata {

struct RendezvousAddress {
  std::string path;  // not empty: a socket in the file system
  std::string host;  // otherwise a name or a numeric address, without brackets
  std::uint16_t port = 0;

  bool is_path() const { return !path.empty(); }
};

// "host:port", "[IPv6]:port", or a path, which has a '/' in it. Pure.
// Error: invalid_argument that quotes the text and says what is wrong with it.
Expected<RendezvousAddress> parse_rendezvous(std::string_view text);

// "host:port" with brackets around an IPv6 address.
std::string join_host_port(std::string_view host, std::uint16_t port);

}  // namespace strata
