// Whether the hosts of a topology file are those of a job.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ccl/base/nearest.hpp"
#include "ccl/topology/topology_file.hpp"

namespace strata::topology {
namespace {

// The line is that of the host that is most likely meant: one that the job is not on, if there is any.
Status unknown_host(const TopologyFile& file, std::span<const std::string> hosts, std::size_t rank) {
  const auto is_used = [&](const Host& host) {
    return std::find(hosts.begin(), hosts.end(), host.name) != hosts.end();
  };
  const auto& known = file.topology.hosts;
  const bool all_used = std::all_of(known.begin(), known.end(), is_used);
  std::vector<std::string_view> names;
  for (const Host& host : known)
    if (all_used || !is_used(host)) names.push_back(host.name);
  const std::string_view near = nearest(hosts[rank], names);
  const auto meant =
      std::find_if(known.begin(), known.end(), [&](const Host& host) { return host.name == near; });
  return {ErrorCode::invalid_argument,
          fmt::format("{}:{}: rank {} is on host '{}', which the file does not have; if it is '{}' of this "
                      "line, correct that, else add a [[host]] with name = \"{}\"",
                      file.path, file.host_lines[static_cast<std::size_t>(meant - known.begin())], rank,
                      hosts[rank], near, hosts[rank])};
}

}  // namespace

Status check_ranks(const TopologyFile& file, std::span<const std::string> hosts) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (const Host& host : file.topology.hosts) numbers.try_emplace(host.name, numbers.size());
  std::vector<int> ranks(numbers.size());
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto host = numbers.find(hosts[rank]);
    if (host == numbers.end()) return unknown_host(file, hosts, rank);
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
