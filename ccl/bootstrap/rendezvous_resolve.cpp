#include "ccl/bootstrap/rendezvous_resolve.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <system_error>

#include "ccl/base/check.hpp"

namespace strata::rendezvous {
namespace {

template <class Native>
SocketAddress from_native(const Native& native, std::size_t length = sizeof(Native)) {
  SocketAddress address;
  std::memcpy(&address.storage, &native, length);
  address.length = static_cast<socklen_t>(length);
  return address;
}

template <class Native>
Native to_native(const SocketAddress& address) {
  Native native{};
  std::memcpy(&native, &address.storage, sizeof native);
  return native;
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

int look_up(const std::string& host, std::uint16_t port, int flags, AddressList& into) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* first = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
  into.reset(first);
  return error;
}

}  // namespace

SocketAddress path_address(const std::string& path) {
  sockaddr_un native{};
  STRATA_CHECK(path.size() < sizeof native.sun_path, path);
  native.sun_family = AF_UNIX;
  std::memcpy(native.sun_path, path.data(), path.size());
  return from_native(native, offsetof(sockaddr_un, sun_path) + path.size() + 1);
}

SocketAddress any_address(int family, std::uint16_t port) {
  if (family == AF_INET) {
    sockaddr_in native{};
    native.sin_family = AF_INET;
    native.sin_port = htons(port);
    return from_native(native);
  }
  sockaddr_in6 native{};
  native.sin6_family = AF_INET6;
  native.sin6_port = htons(port);
  return from_native(native);
}

bool is_loopback(const SocketAddress& address) {
  if (address.family() == AF_INET)
    return ntohl(to_native<sockaddr_in>(address).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  const in6_addr ip = to_native<sockaddr_in6>(address).sin6_addr;
  return address.family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&ip);
}

std::string to_string(const SocketAddress& address) {
  if (address.family() == AF_UNIX) return to_native<sockaddr_un>(address).sun_path;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int error = ::getnameinfo(address.get(), address.length, host.data(), host.size(), port.data(),
                                  port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  if (error != 0) return "an address without a name";
  return join_host_port(host.data(), static_cast<std::uint16_t>(std::atoi(port.data())));
}

Expected<std::vector<SocketAddress>> resolve(const RendezvousAddress& address) {
  if (address.is_path()) return std::vector{path_address(address.path)};
  AddressList list(nullptr, &::freeaddrinfo);
  const int error = look_up(address.host, address.port, 0, list);
  if (error != 0) {
    const std::string reason =
        error == EAI_SYSTEM ? std::generic_category().message(errno) : ::gai_strerror(error);
    return Status(ErrorCode::unavailable,
                  fmt::format("the host \"{}\" has no address: {}", address.host, reason));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    SocketAddress next;
    std::memcpy(&next.storage, entry->ai_addr, entry->ai_addrlen);
    next.length = entry->ai_addrlen;
    addresses.push_back(next);
  }
  if (addresses.empty())
    return Status(ErrorCode::unavailable,
                  fmt::format("the host \"{}\" has no IPv4 or IPv6 address", address.host));
  return addresses;
}

bool is_numeric(const std::string& host) {
  AddressList list(nullptr, &::freeaddrinfo);
  return look_up(host, 0, AI_NUMERICHOST, list) == 0;
}

}  // namespace strata::rendezvous
