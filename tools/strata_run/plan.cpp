#include "tools/strata_run/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ccl/bootstrap/rendezvous_address.hpp"
#include "tools/strata_run/placement.hpp"

namespace strata::run {
namespace {

using Variables = std::map<std::string, std::string>;

Variables split(const std::vector<std::string>& assignments) {
  Variables variables;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals != std::string::npos) variables[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  return variables;
}

void set_unless_empty(Variables& variables, const char* name, const std::string& value) {
  if (!value.empty()) variables[name] = value;
}

void set_milliseconds(Variables& variables, const char* name, const std::optional<double>& seconds) {
  if (seconds) variables[name] = fmt::format("{:.0f}", *seconds * 1000);
}

// Other libraries must not be sent to the port at which Strata's rank 0 listens.
void set_master(Variables& variables, const Job& job) {
  if (variables.contains("MASTER_ADDR") || variables.contains("MASTER_PORT")) return;
  const auto address = parse_rendezvous(job.rendezvous);
  const bool has_host = address.ok() && !address->is_path();
  const int beside = has_host ? (address->port == 65'535 ? 65'534 : address->port + 1) : job.free_port;
  variables["MASTER_ADDR"] = has_host ? address->host : "127.0.0.1";
  variables["MASTER_PORT"] = std::to_string(beside);
}

}  // namespace

std::string lab_rendezvous(std::string_view host) { return fmt::format("{}:29400", host); }

int world_size(const Options& options) { return options.nodes * options.ranks; }
int rank_of(const Options& options, int started) { return options.node_rank * options.ranks + started; }

std::vector<std::string> environment_of(const Options& options, const Job& job,
                                        const std::vector<std::string>& inherited, int started) {
  Variables variables = split(inherited);
  variables["RANK"] = std::to_string(rank_of(options, started));
  variables["WORLD_SIZE"] = std::to_string(world_size(options));
  const Place place = place_of(options, started);
  variables["LOCAL_RANK"] = std::to_string(place.local_rank);
  variables["LOCAL_WORLD_SIZE"] = std::to_string(place.local_size);
  variables["STRATA_RENDEZVOUS"] = job.rendezvous;
  variables["STRATA_SECRET"] = job.secret;
  set_master(variables, job);
  set_unless_empty(variables, "STRATA_TRANSPORT", options.transport);
  set_unless_empty(variables, "STRATA_INTERFACE", options.interface);
  set_unless_empty(variables, "STRATA_PORT_RANGE", options.port_range);
  set_unless_empty(variables, "STRATA_ALGORITHM", options.algorithm);
  set_unless_empty(variables, "STRATA_TOPOLOGY", options.topology);
  set_unless_empty(variables, "STRATA_LEVELS", options.levels);
  set_unless_empty(variables, "STRATA_METRICS", options.metrics);
  set_unless_empty(variables, "STRATA_TRACE", options.trace);
  set_unless_empty(variables, "STRATA_LOG", options.log);
  set_milliseconds(variables, "STRATA_TIMEOUT_MS", options.timeout_s);
  set_milliseconds(variables, "STRATA_RENDEZVOUS_TIMEOUT_MS", options.rendezvous_timeout_s);
  // What is known of a lab's links from before was another lab's.
  if (options.lab) variables.try_emplace("STRATA_CALIBRATE", "always");
  // Every rank would otherwise start as many threads as there are cores.
  variables.try_emplace("OMP_NUM_THREADS",
                        std::to_string(std::max(1, static_cast<int>(job.cores.size()) / options.ranks)));
  std::vector<std::string> assignments;
  for (const auto& [name, value] : variables) assignments.push_back(name + "=" + value);
  return assignments;
}

std::vector<int> cores_of(const Options& options, const Job& job, int started) {
  const auto ranks = static_cast<std::size_t>(options.ranks), rank = static_cast<std::size_t>(started);
  if (!options.bind || job.cores.size() < ranks) return {};
  const auto begin = [&](std::size_t r) {
    return job.cores.begin() + static_cast<std::ptrdiff_t>(r * job.cores.size() / ranks);
  };
  return {begin(rank), begin(rank + 1)};
}

Expected<std::string> rendezvous_of(const Options& options, const Environment& environment) {
  if (options.lab) return lab_rendezvous("host0");
  const bool given = !options.rendezvous.empty();
  const std::string where = given ? options.rendezvous : std::string(environment.text("STRATA_RENDEZVOUS"));
  if (where.empty() && options.nodes > 1)
    return Status(
        ErrorCode::invalid_argument,
        fmt::format("{} hosts must be told where to meet: add --rendezvous HOST:PORT, with the host that has "
                    "--node-rank 0 and a free port there, the same on all hosts",
                    options.nodes));
  if (where.empty()) return where;
  const auto address = parse_rendezvous(where);
  const std::string_view source = given ? "--rendezvous" : "STRATA_RENDEZVOUS";
  if (!address)
    return Status(address.status().code(), fmt::format("{}: {}", source, address.status().message()));
  if (address->is_path() && options.nodes > 1)
    return Status(ErrorCode::invalid_argument,
                  fmt::format("{} is the path {}, but {} hosts cannot meet at a path: give HOST:PORT", source,
                              where, options.nodes));
  return where;
}

}  // namespace strata::run
