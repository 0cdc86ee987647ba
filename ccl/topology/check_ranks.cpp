// Whether the hosts of a topology file are those of a job.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ccl/base/nearest.hpp"
#include "ccl/topology/topology_file.hpp"

namespace strata::topology {
namespace {

int line_of(const TopologyFile& file, std::string_view host) {
  const auto& hosts = file.topology.hosts;
  const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const Host& h) { return h.name == host; });
  return file.host_lines[static_cast<std::size_t>(found - hosts.begin())];
}

Status unknown_host(const TopologyFile& file, std::size_t rank, const std::string& host) {
  std::vector<std::string_view> names;
  for (const Host& known : file.topology.hosts) names.push_back(known.name);
  const std::string_view near = nearest(host, names);
  return {ErrorCode::invalid_argument,
          fmt::format("{}:{}: rank {} is on host '{}', which the file does not have; if it is '{}' of this "
                      "line, correct that, else add a [[host]] with name = \"{}\"",
                      file.path, line_of(file, near), rank, host, near, host)};
}

}  // namespace

Status check_ranks(const TopologyFile& file, std::span<const std::string> hosts) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (const Host& host : file.topology.hosts) numbers.try_emplace(host.name, numbers.size());
  std::vector<int> ranks(numbers.size());
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto host = numbers.find(hosts[rank]);
    if (host == numbers.end()) return unknown_host(file, rank, hosts[rank]);
    ++ranks[host->second];
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Host& host = file.topology.hosts[i];
    if (host.slots > 0 && ranks[i] > host.slots)
      return {ErrorCode::invalid_argument,
              fmt::format("{}:{}: host '{}' has slots = {}, and {} ranks of the job are there; start fewer "
                          "there, or raise its slots",
                          file.path, file.host_lines[i], host.name, host.slots, ranks[i])};
  }
  return {};
}

}  // namespace strata::topology
