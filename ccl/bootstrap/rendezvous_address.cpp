#include "ccl/bootstrap/rendezvous_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <array>
#include <charconv>

namespace strata {
namespace {

constexpr std::size_t kPathBytesMax = sizeof(sockaddr_un{}.sun_path) - 1;
constexpr std::size_t kHostBytesMax = 255;

Status malformed(std::string_view text, std::string_view what) {
  return {ErrorCode::invalid_argument, fmt::format("the rendezvous is \"{}\": {}; it must be host:port, "
                                                   "[IPv6 address]:port, or a path with a '/' in it",
                                                   text, what)};
}

Expected<RendezvousAddress> parse_path(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return malformed(text, "a path has no zero byte");
  if (text.ends_with('/')) return malformed(text, "that is a folder; a socket is made at the path");
  if (text.size() > kPathBytesMax)
    return malformed(
        text, fmt::format("the path has {} bytes and the system allows {}", text.size(), kPathBytesMax));
  return RendezvousAddress{std::string(text), {}, 0};
}

bool is_ipv6(std::string_view host) {
  std::array<unsigned char, 16> bytes{};
  // A scope ("fe80::1%eth0") is for the system to read.
  return ::inet_pton(AF_INET6, std::string(host.substr(0, host.find('%'))).c_str(), bytes.data()) == 1;
}

}  // namespace

Expected<RendezvousAddress> parse_rendezvous(std::string_view text) {
  if (text.empty()) return malformed(text, "it is empty");
  if (text.find('/') != std::string_view::npos) return parse_path(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed(text, "the port is missing");
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty()) return malformed(text, "the host is missing");
  if (host.size() > kHostBytesMax)
    return malformed(text, fmt::format("a host has at most {} bytes", kHostBytesMax));
  if (bracketed && !is_ipv6(host)) return malformed(text, "what stands in brackets is no IPv6 address");
  if (!bracketed && host.find(':') != std::string_view::npos)
    return malformed(text, "an IPv6 address needs brackets, as in [::1]:29500");
  if (host.find_first_of(" \t\r\n[]") != std::string_view::npos || host.find('\0') != std::string_view::npos)
    return malformed(text, "a host has no spaces and no brackets inside");
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc{} || end != port_text.data() + port_text.size() || port == 0)
    return malformed(text, "the port must be a whole number from 1 to 65535");
  return RendezvousAddress{{}, std::string(host), port};
}

std::string join_host_port(std::string_view host, std::uint16_t port) {
  const bool brackets = host.find(':') != std::string_view::npos;
  return brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace strata
