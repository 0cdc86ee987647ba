// How the first communicator of a job comes to be: meet, connect, start the engine.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>
#include <sstream>

#include "ccl/base/environment.hpp"
#include "ccl/base/host.hpp"
#include "ccl/base/log.hpp"
#include "ccl/base/memory_budget.hpp"
#include "ccl/bootstrap/bootstrap.hpp"
#include "ccl/runtime/calibrate.hpp"
#include "ccl/runtime/communicator_impl.hpp"
#include "ccl/runtime/connect.hpp"
#include "ccl/runtime/locate.hpp"
#include "ccl/runtime/options.hpp"
#include "ccl/runtime/tracing.hpp"
#include "ccl/topology/cpus.hpp"

namespace strata {
namespace {

// What each rank tells the others of itself, one line a field.
struct Introduction {
  std::string host, host_id;
  int pid = 0;
  std::string cpus, algorithm;
  std::string trace;  // absolute

  std::string text() const {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", host, host_id, pid, cpus, algorithm, trace);
  }
  static Introduction from(const std::string& text) {
    Introduction i;
    std::istringstream lines(text);
    std::string pid;
    for (std::string* field : {&i.host, &i.host_id, &pid, &i.cpus, &i.algorithm, &i.trace})
      std::getline(lines, *field);
    i.pid = std::atoi(pid.c_str());
    return i;
  }
};

std::string absolute(const std::string& path) {
  std::error_code failed;
  const std::string whole = path.empty() ? path : std::filesystem::absolute(path, failed).string();
  return failed ? path : whole;
}

Expected<std::vector<Introduction>> introduce(Exchange& exchange, const CommunicatorOptions& options) {
  const Host host = this_host();
  const auto texts = exchange.all_gather(
      Introduction{host.name, host.id, host.pid, allowed_cpus(), options.algorithm, absolute(options.trace)}
          .text());
  if (!texts) return texts.status();
  std::vector<Introduction> all;
  for (const std::string& text : *texts) all.push_back(Introduction::from(text));
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r].algorithm != all[0].algorithm)
      return Status(
          ErrorCode::mismatch,
          fmt::format("algorithm: rank 0 (host {}) was given '{}', rank {} (host {}) '{}'; all ranks must be "
                      "given the same",
                      all[0].host, all[0].algorithm, r, all[r].host, all[r].algorithm));
  return all;
}

std::vector<Seat> seats_of(const std::vector<Introduction>& all) {
  std::vector<Seat> seats;
  for (const Introduction& i : all) seats.push_back({i.host, i.host_id, i.cpus, topology::kNone});
  return seats;
}

TraceSettings trace_settings(const std::vector<Introduction>& all, std::uint32_t trace_mb) {
  TraceSettings settings{all[0].trace, std::uint64_t{trace_mb} << 20, {}, {}};
  std::map<std::string, int> clocks;
  for (const Introduction& i : all) {
    settings.hosts.push_back(i.host);
    settings.clocks.push_back(clocks.try_emplace(i.host_id, static_cast<int>(clocks.size())).first->second);
  }
  return settings;
}

std::vector<PeerClass> classes_of(const std::vector<Introduction>& all, Rank me) {
  const std::string& mine = all[static_cast<std::size_t>(me)].host_id;
  std::vector<PeerClass> classes;
  for (const Introduction& i : all)
    classes.push_back(i.host_id == mine ? PeerClass::host : PeerClass::network);
  classes[static_cast<std::size_t>(me)] = PeerClass::self;
  return classes;
}

// What goes wrong is a warning. Ranks of a host have ports one after another.
void show_metrics(Engine& engine, const CommunicatorOptions& options, std::vector<PeerClass> peers) {
  MetricsAddress address = *parse_metrics_address(options.metrics);
  if (address.port != 0)
    address.port = static_cast<std::uint16_t>(address.port + std::max(0, options.local_rank));
  engine.observer().count(std::move(peers));
  auto server = serve_metrics(
      address, [&engine, rank = options.rank] { return engine.observer().counters().text(rank); });
  if (!server) return log::warn("{}", server.status().message());
  log::info("metrics: {}", (*server)->where());
  engine.show_by(*std::move(server));
}

// The ranks of this rank's host.
struct Here {
  int ranks = 0, cores = 1;
  bool shm = true;  // that is how this one reaches the others
};

Here look_around(Router& router, Rank me, const std::vector<Introduction>& all) {
  Here here;
  std::vector<std::string> cpus;
  for (Rank r = 0; r < static_cast<Rank>(all.size()); ++r) {
    const Introduction& other = all[static_cast<std::size_t>(r)];
    if (other.host_id != all[static_cast<std::size_t>(me)].host_id) continue;
    cpus.push_back(other.cpus);
    here.shm = here.shm && (r == me || router.to(r).neighbours() != nullptr);
  }
  here.ranks = static_cast<int>(cpus.size());
  here.cores = cores_of(cpus);
  return here;
}

// Of ranks that share cores, who waits gives its core away each time it has looked: that costs the others
// little, and waking up costs much more than a turn. So they look for longer.
constexpr int kYieldingSpin = 10;

DriverOptions driver_options(const CommunicatorOptions& options, const Here& here) {
  DriverOptions driver;
  driver.progress_thread = options.progress_thread;
  driver.yield = here.ranks > here.cores;
  driver.spin = std::chrono::microseconds(options.spin_us) * (driver.yield ? kYieldingSpin : 1);
  if (driver.yield) log::debug("{} ranks share {} cores: waiting threads yield", here.ranks, here.cores);
  return driver;
}

void configure_log_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (Status s = configure_log(Environment::of_process()); !s.ok()) log::warn("{}", s.message());
  });
}

}  // namespace

Expected<std::shared_ptr<Communicator::Impl>> create_impl(const CommunicatorOptions& options) {
  configure_log_once();
  if (Status s = validate(options); !s.ok()) return s;
  log::set_rank(options.rank);
  MemoryBudget::of_process().set_limit(std::uint64_t{options.memory_mb} << 20);
  auto exchange = join(options);
  if (!exchange) return exchange.status();
  auto all = introduce(**exchange, options);
  if (!all) return all.status();
  std::vector<Peer> peers;
  for (const Introduction& i : *all) peers.push_back({.host = i.host, .pid = i.pid});

  auto where = locate(**exchange, seats_of(*all), options.topology, options.levels);
  if (!where) return where.status();

  auto engine = std::make_shared<Engine>(options.rank, std::move(peers));
  auto router = connect_all(**exchange, options, *engine);
  if (!router) return router.status();
  std::vector<Rank> members(static_cast<std::size_t>(options.size));
  std::iota(members.begin(), members.end(), 0);
  auto state = std::make_shared<CommunicatorState>(kFirstCommunicator, std::move(members), options.rank);
  state->timeout_ms = options.timeout_ms;
  state->algorithm = options.algorithm;
  state->reads_peers = options.single_copy;
  const Here here = look_around(**router, options.rank, *all);
  engine->attach(*std::move(router), state, driver_options(options, here));
  const auto impl = std::make_shared<Communicator::Impl>(std::move(engine), state);
  if (!options.metrics.empty()) show_metrics(*impl->engine, options, classes_of(*all, options.rank));
  TraceSettings tracing = trace_settings(*all, options.trace_mb);
  if (options.size == 1) {
    if (!tracing.path.empty()) begin_tracing(**exchange, *impl, std::move(tracing));
    return impl;
  }
  Communicator communicator(impl);
  auto model = calibrate(**exchange, communicator, options.calibrate,
                         {.where = *where, .cores = here.cores, .shm = here.shm});
  if (!model) return model.status();
  state->select_by(*std::move(model));
  state->where = std::make_shared<const Whereabouts>(*std::move(where));
  if (!tracing.path.empty()) begin_tracing(**exchange, *impl, std::move(tracing));
  return impl;
}

Expected<Communicator> Communicator::create(const CommunicatorOptions& options) {
  auto made = create_impl(options);
  if (!made) return made.status();
  return Communicator(*std::move(made));
}

Expected<Communicator> Communicator::from_environment() {
  auto options = CommunicatorOptions::from_environment();
  if (!options) return options.status();
  return create(*options);
}

}  // namespace strata
