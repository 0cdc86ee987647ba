#include "ccl/transport/tcp/tcp_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/ip/address.hpp>
#include <charconv>

#include "ccl/transport/descriptor_fields.hpp"
#include "ccl/transport/factories.hpp"

namespace strata::tcp {
namespace {

constexpr std::string_view kVersion = "tcp3";
constexpr std::size_t kFixedFields = 4;
constexpr std::size_t kEndpointsMax = 64;

Status malformed(std::string_view text) {
  return {ErrorCode::mismatch,
          fmt::format(
              "'{}' is no descriptor of the TCP transport {}; do all ranks run the same version of Strata?",
              text, kVersion)};
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, wrong] = std::from_chars(text.data(), end, number);
  return wrong == std::errc{} && stopped == end;
}

// "address port rail"
bool parse_endpoint(std::string_view text, Endpoint& endpoint) {
  const std::size_t space = text.find(' '), last = text.rfind(' ');
  if (space == last) return false;
  endpoint.address = text.substr(0, space);
  std::error_code error;
  const asio::ip::address address = asio::ip::make_address(endpoint.address, error);
  endpoint.ipv6 = !error && address.is_v6();
  endpoint.loopback = !error && address.is_loopback();
  return !error && parse_number(text.substr(space + 1, last - space - 1), endpoint.port) &&
         endpoint.port != 0 && parse_number(text.substr(last + 1), endpoint.rail) &&
         endpoint.rail < kRailsMax;
}

bool has_family(const TcpDescriptor& descriptor, bool ipv6, std::uint32_t rail = 0) {
  return std::any_of(descriptor.endpoints.begin(), descriptor.endpoints.end(),
                     [=](const Endpoint& e) { return !e.loopback && e.ipv6 == ipv6 && e.rail == rail; });
}

std::string addresses(const TcpDescriptor& descriptor) {
  std::string text;
  for (const Endpoint& e : descriptor.endpoints) text += (text.empty() ? "" : ", ") + e.address;
  return text;
}

}  // namespace

std::string to_text(const Endpoint& endpoint) {
  return endpoint.ipv6 ? fmt::format("[{}]:{}", endpoint.address, endpoint.port)
                       : fmt::format("{}:{}", endpoint.address, endpoint.port);
}

std::string to_text(const TcpDescriptor& descriptor) {
  std::vector<std::string> fields{std::string(kVersion), descriptor.host_id, descriptor.host_name,
                                  std::to_string(descriptor.streams)};
  for (const Endpoint& e : descriptor.endpoints)
    fields.push_back(fmt::format("{} {} {}", e.address, e.port, e.rail));
  return join_fields(fields);
}

Expected<TcpDescriptor> parse_tcp_descriptor(std::string_view text) {
  const std::vector<std::string> fields = split_fields(text);
  if (fields.size() < kFixedFields || fields.size() > kFixedFields + kEndpointsMax || fields[0] != kVersion)
    return malformed(text);
  TcpDescriptor descriptor{fields[1], fields[2], 1, {}};
  if (!parse_number(fields[3], descriptor.streams) || descriptor.streams < 1 ||
      descriptor.streams > kStreamsMax)
    return malformed(text);
  for (std::size_t i = kFixedFields; i < fields.size(); ++i) {
    Endpoint endpoint;
    if (!parse_endpoint(fields[i], endpoint)) return malformed(text);
    descriptor.endpoints.push_back(std::move(endpoint));
  }
  return descriptor;
}

std::vector<Endpoint> ways(const TcpDescriptor& mine, const TcpDescriptor& theirs, std::uint32_t rail) {
  const bool same_host = mine.host_id == theirs.host_id;
  std::vector<Endpoint> local, remote;
  for (const Endpoint& e : theirs.endpoints) {
    if (e.loopback) {
      local.push_back(e);
    } else if (e.rail == rail && (same_host || has_family(mine, e.ipv6, rail))) {
      remote.push_back(e);
    }
  }
  return same_host && !local.empty() ? local : remote;
}

std::uint32_t rails(const TcpDescriptor& mine, const TcpDescriptor& theirs) {
  if (mine.host_id == theirs.host_id) return 1;
  const auto count = [](const TcpDescriptor& descriptor) {
    std::uint32_t most = 0;
    for (const Endpoint& e : descriptor.endpoints) most = std::max(most, e.rail);
    return most + 1;
  };
  return std::min(count(mine), count(theirs));
}

std::uint32_t streams(const TcpDescriptor& mine, const TcpDescriptor& theirs) {
  return rails(mine, theirs) * std::min(mine.streams, theirs.streams);
}

namespace {

std::uint32_t first_without_way(const TcpDescriptor& mine, const TcpDescriptor& theirs) {
  std::uint32_t rail = 0;
  while (rail < rails(mine, theirs) && !ways(mine, theirs, rail).empty() && !ways(theirs, mine, rail).empty())
    ++rail;
  return rail;
}

}  // namespace

bool reachable(const TcpDescriptor& mine, const TcpDescriptor& theirs) {
  return first_without_way(mine, theirs) == rails(mine, theirs);
}

std::string why_unreachable(const TcpDescriptor& mine, const TcpDescriptor& theirs) {
  const std::uint32_t rail = first_without_way(mine, theirs);
  for (const TcpDescriptor* d : {&mine, &theirs})
    if (!has_family(*d, false, rail) && !has_family(*d, true, rail))
      return fmt::format(
          "host {} offers TCP only on its loopback ({}), which host {} cannot reach: name an interface that "
          "connects the hosts, e.g. STRATA_INTERFACE=eth0",
          d->host_name, addresses(*d), d == &mine ? theirs.host_name : mine.host_name);
  return fmt::format(
      "hosts {} ({}) and {} ({}) have no family of addresses in common{}, one has only IPv4 and one only "
      "IPv6: name interfaces that have the same",
      mine.host_name, addresses(mine), theirs.host_name, addresses(theirs),
      rail > 0 ? fmt::format(" on their interfaces number {}", rail + 1) : "");
}

}  // namespace strata::tcp
