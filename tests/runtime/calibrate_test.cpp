// Calibration: all ranks get the same model, whatever hosts they are on; the cache; what goes wrong; and what
// is estimated with it.
#include "ccl/runtime/calibrate.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ccl/runtime/cost_cache.hpp"
#include "ccl/runtime/measure_costs.hpp"
#include "tests/support/local_exchange.hpp"
#include "tests/support/world.hpp"
#include "tests/topology/examples.hpp"

namespace strata::test {
namespace {

// A folder of its own for the cache, which goes with the object.
class CacheFolder final {
 public:
  CacheFolder() : path_(make_meeting_place()) { ::setenv("XDG_CACHE_HOME", path_.c_str(), 1); }
  ~CacheFolder() { std::filesystem::remove_all(path_); }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::string& path() const { return path_; }
  std::size_t files() const {
    const std::filesystem::path folder = path_ + "/strata";
    if (!std::filesystem::exists(folder)) return 0;
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
  }

 private:
  std::string path_;
};

std::vector<std::string> ids(std::initializer_list<const char*> names) {
  return std::vector<std::string>(names.begin(), names.end());
}

WorldOptions over(Wire wire) {
  WorldOptions options;
  options.wire = wire;
  return options;
}

// Ranks on hosts of which nothing else is known.
Whereabouts on_hosts(const std::vector<std::string>& host_ids) {
  std::vector<Seat> seats;
  for (const std::string& id : host_ids) seats.push_back({id, id, "", topology::kNone});
  return whereabouts(seats, std::vector<std::optional<topology::Machine>>(host_ids.size()), nullptr, "")
      .value();
}

// Rank r is on host_ids[r], which has r + 1 cores by its own word. modes: of each rank.
std::vector<CostModel> calibrate_all(const Whereabouts& where, Wire wire,
                                     const std::vector<std::string>& modes) {
  const int size = static_cast<int>(where.host.size());
  LocalExchangeHub hub(size);
  std::vector<CostModel> models(where.host.size());
  const std::string failures = run_world(size, over(wire), [&](Communicator& c) {
    LocalExchange exchange(hub, c.rank());
    const auto r = static_cast<std::size_t>(c.rank());
    const auto model =
        calibrate(exchange, c, modes[r], {.where = where, .cores = c.rank() + 1, .shm = wire == Wire::shm});
    EXPECT_OK(model.status());
    models[r] = *model;
  });
  CHECK(failures == "");
  return models;
}

std::vector<CostModel> calibrate_all(const std::vector<std::string>& host_ids, Wire wire, const char* mode) {
  return calibrate_all(on_hosts(host_ids), wire, std::vector<std::string>(host_ids.size(), mode));
}

const LinkCost& cost_of(const CostModel& model, LinkKind kind) {
  for (const LinkLevels::Level& level : model.links->levels)
    if (level.kind == kind) return level.cost;
  FAIL("no such link");
  std::abort();
}

bool all_measured(const CostModel& model) {
  const auto& levels = model.links->levels;
  return std::all_of(levels.begin(), levels.end(), [](const auto& level) { return level.measured; });
}

bool same(const std::vector<CostModel>& models) {
  for (const CostModel& m : models)
    if (m.costs != models[0].costs || m.placement != models[0].placement || *m.links != *models[0].links)
      return false;
  return true;
}

const Costs kUsual = default_costs();

}  // namespace

TEST_CASE("all ranks come to the same model, with hosts and cores in their places") {
  const CacheFolder folder;
  const auto hosts = ids({"b", "a", "b", "c", "a"});
  const Wire wire = GENERATE(Wire::shm, Wire::tcp);
  const auto models = calibrate_all(hosts, wire, "always");
  REQUIRE(same(models));
  const Placement& placement = models[0].placement;
  CHECK(placement.host == std::vector<int>{0, 1, 0, 2, 1});
  CHECK(placement.cores == std::vector<int>{1, 2, 4});  // as the lowest rank of each host says
  const LinkKind within = wire == Wire::shm ? LinkKind::shm : LinkKind::tcp_local;
  CHECK(placement.within == within);
  CHECK(cost_of(models[0], within) != kUsual.of(within));
  CHECK(cost_of(models[0], LinkKind::tcp) != kUsual.of(LinkKind::tcp));
  CHECK(all_measured(models[0]));
  CHECK(models[0].costs.local != kUsual.local);
}

TEST_CASE("off takes the built-in costs, and rank 0 decides") {
  const CacheFolder folder;
  const auto hosts = ids({"a", "a", "a"});
  auto models = calibrate_all(on_hosts(hosts), Wire::shm, {"off", "always", "auto"});
  REQUIRE(same(models));
  CHECK(models[0].costs == kUsual);
  CHECK(cost_of(models[0], LinkKind::shm) == kUsual.of(LinkKind::shm));
  CHECK(!all_measured(models[0]));
  CHECK(folder.files() == 0);
  models = calibrate_all(on_hosts(hosts), Wire::shm, {"always", "off", "off"});
  REQUIRE(same(models));
  CHECK(models[0].costs != kUsual);
  CHECK(all_measured(models[0]));
}

TEST_CASE("what was measured on this machine is not measured again") {
  const CacheFolder folder;
  const auto hosts = ids({"a", "a"});
  const auto first = calibrate_all(hosts, Wire::shm, "auto");
  CHECK(folder.files() == 1);
  const auto again = calibrate_all(hosts, Wire::shm, "auto");
  REQUIRE(same(again));
  CHECK(again[0].costs == first[0].costs);
  CHECK(*again[0].links == *first[0].links);
  // Another kind of link is measured, and the first is kept.
  const auto other = calibrate_all(hosts, Wire::tcp, "auto");
  CHECK(cost_of(other[0], LinkKind::tcp_local) != kUsual.of(LinkKind::tcp_local));
  CHECK(folder.files() == 1);
  CHECK(*calibrate_all(hosts, Wire::shm, "auto")[0].links == *first[0].links);
}

TEST_CASE("links between hosts are not kept") {
  const CacheFolder folder;
  (void)calibrate_all(ids({"a", "b"}), Wire::tcp, "auto");
  const MeasuredCosts kept = cost_cache_of({}).read();
  CHECK(kept.local);
  CHECK(kept.links.empty());
}

TEST_CASE("a broken or foreign file is ignored and replaced") {
  const CacheFolder folder;
  const CostCache cache = cost_cache_of({});
  MeasuredCosts costs;
  costs.set("host", LinkKind::shm, kUsual.of(LinkKind::shm));
  cache.write(costs);
  REQUIRE(cache.read() == costs);
  std::string text;
  std::getline(std::ifstream(cache.path()), text, '\0');
  for (const std::string& bad : {std::string("x"), text + "shm 1 host\n", text.substr(0, text.size() - 1),
                                 "other " + text, std::string(1 << 20, '\n')}) {
    std::ofstream(cache.path()) << bad;
    CHECK(cache.read() == MeasuredCosts{});
    cache.write(costs);
    CHECK(cache.read() == costs);
  }
  // The same file name, but another machine.
  CostCache other = cache;
  other.key += "another\n";
  std::filesystem::rename(cache.path(), other.path());
  CHECK(other.read() == MeasuredCosts{});
  CHECK(cache.read() == MeasuredCosts{});
}

TEST_CASE("nowhere to keep anything is no trouble") {
  MeasuredCosts costs;
  costs.set("host", LinkKind::shm, kUsual.of(LinkKind::shm));
  for (const char* folder : {"", "/proc/nowhere", "/dev/null/x"}) {
    const CostCache cache{folder, "key\n"};
    cache.write(costs);
    CHECK(cache.read() == MeasuredCosts{});
  }
  const auto folder = [](std::vector<std::string> variables) { return cache_folder(Environment(variables)); };
  CHECK(folder({"XDG_CACHE_HOME=/x", "HOME=/h"}) == "/x/strata");
  CHECK(folder({"XDG_CACHE_HOME=x", "HOME=/h"}) == "/h/.cache/strata");
  CHECK(folder({"HOME=/h"}) == "/h/.cache/strata");
  CHECK(folder({}).empty());
}

TEST_CASE("each level has a pair that measures it, and what the file says is not measured") {
  const CacheFolder folder;
  // Two hosts of two NUMA nodes of two ranks; racks of a host each.
  std::vector<Seat> seats;
  for (const char* host : {"a", "b"})
    for (const char* cpus : {"0", "1", "2", "3"}) seats.push_back({host, host, cpus, topology::kNone});
  const topology::Machine machine = topology::test::even_machine(1, 2, 1, 2);
  const std::vector<std::optional<topology::Machine>> machines(2, machine);
  const auto file = topology::parse_topology_file(R"(
[[machine]]
name = "m"
nics = [{name = "eth0", rate = "1 Gb/s"}]
[[host]]
name = "a"
machine = "m"
[[host]]
name = "b"
machine = "m"
[[cost]]
level = "package"
medium = "tcp"
latency = "20 us"
)",
                                                  "t.toml");
  REQUIRE(file.ok());
  const Whereabouts where = whereabouts(seats, machines, &*file, "").value();
  const auto models = calibrate_all(where, Wire::tcp, std::vector<std::string>(8, "auto"));
  REQUIRE(same(models));
  const auto& levels = models[0].links->levels;
  REQUIRE(levels.size() == 3);
  CHECK(levels[0].name == "l3");
  CHECK(levels[1].name == "package");
  CHECK(levels[2].name == "cluster");
  CHECK(all_measured(models[0]));
  const LinkCost& stated = levels[1].cost;
  CHECK(std::abs(stated.send_ps + stated.recv_ps + stated.latency_ps - 20'000'000) < 10);
  CHECK(stated.send_ps_per_kib == kUsual.of(LinkKind::tcp_local).send_ps_per_kib);  // no rate was stated
  CHECK(levels[2].cost.wire_ps_per_kib >= ps_per_kib_at(1'000'000'000));
  CHECK(models[0].placement.nic_ps_per_kib == std::vector<Picoseconds>(2, ps_per_kib_at(1'000'000'000)));
  const MeasuredCosts kept = cost_cache_of(machine).read();
  CHECK(kept.find("l3", LinkKind::tcp_local) != nullptr);
  CHECK(kept.find("package", LinkKind::tcp_local) == nullptr);
  CHECK(kept.find("cluster", LinkKind::tcp) == nullptr);
}

TEST_CASE("a rank that goes away while links are measured is an error on all, not a hang") {
  const CacheFolder folder;
  const Whereabouts where = on_hosts(ids({"a", "a", "a"}));
  LocalExchangeHub hub(3);
  const std::string failures = run_world(3, over(Wire::tcp), [&](Communicator& c) {
    LocalExchange exchange(hub, c.rank());
    if (c.rank() == 1) {  // which rank 0 measures with
      EXPECT_OK(exchange.all_gather("1 tcp\n").status());
      { const Communicator gone = std::move(c); }
      EXPECT_OK(exchange.all_gather("-it went away").status());
      return;
    }
    const auto model = calibrate(exchange, c, "always", {.where = where, .cores = 1, .shm = false});
    EXPECT(!model.ok());
  });
  CHECK(failures == "");
}

TEST_CASE("within a host the parts of a message keep their shares") {
  const LinkCost& usual = kUsual.of(LinkKind::tcp_local);
  const auto message = static_cast<double>(usual.send_ps + usual.recv_ps + usual.latency_ps);
  const auto bytes = static_cast<double>(usual.send_ps_per_kib + usual.recv_ps_per_kib);
  CHECK(link_cost(LinkKind::tcp_local, {message, bytes}, usual) == usual);
  const LinkCost twice = link_cost(LinkKind::tcp_local, {2 * message, bytes / 2}, usual);
  CHECK(twice.send_ps == 2 * usual.send_ps);
  CHECK(twice.latency_ps == 2 * usual.latency_ps);
  CHECK(twice.recv_ps_per_kib == usual.recv_ps_per_kib / 2);
  const LinkCost absurd = link_cost(LinkKind::tcp_local, {1e6 * message, 0}, usual);
  CHECK(absurd.send_ps == 16 * usual.send_ps);
  CHECK(absurd.send_ps_per_kib == usual.send_ps_per_kib / 16);
}

TEST_CASE("between hosts what the ends do not need is the wire") {
  const LinkCost& usual = kUsual.of(LinkKind::tcp);
  const LinkCost slow = link_cost(LinkKind::tcp, {50e6, 8000e3}, usual);  // 1 Gb/s
  CHECK(slow.send_ps == usual.send_ps);
  CHECK(slow.send_ps + slow.recv_ps + slow.latency_ps == 50'000'000);
  CHECK(slow.wire_ps_per_kib == 8'000'000);
  CHECK(slow.recv_ps_per_kib == usual.recv_ps_per_kib);
  const LinkCost fast = link_cost(LinkKind::tcp, {1e6, 20e3}, usual);
  CHECK(fast.latency_ps == 0);
  CHECK(fast.recv_ps_per_kib == 20'000);
}

TEST_CASE("every rank estimates alike, and what it says is what happens") {
  const Wire wire = GENERATE(Wire::memory, Wire::shm, Wire::shm_messages, Wire::tcp);
  CAPTURE(name_of(wire));
  std::vector<std::vector<Estimate>> seen(4);
  const std::string failures = run_world(4, over(wire), [&](Communicator& c) {
    for (int k = 0; k <= static_cast<int>(Collective::scatter); ++k) {
      const auto all = c.estimate(static_cast<Collective>(k), 5000, DataType::float32, ReduceOp::sum, 3);
      EXPECT_OK(all.status());
      EXPECT(all->size() >= 1 && all->front().chosen);
      EXPECT((all->front().algorithm == "shared_memory") == (wire == Wire::shm));
      for (const Estimate& e : *all) EXPECT((e.time_us >= 0) == (e.algorithm != "shared_memory"));
      auto& mine = seen[static_cast<std::size_t>(c.rank())];
      mine.insert(mine.end(), all->begin(), all->end());
    }
    const auto forced = c.estimate(Collective::all_reduce, 5, DataType::int32, ReduceOp::sum, 0,
                                   {.scale = 1, .priority = 0, .timeout_ms = 0, .algorithm = "ring"});
    EXPECT(forced.ok() && forced->front().algorithm == "ring");
    const auto nothing = c.estimate(Collective::all_reduce, 5, DataType::int32, ReduceOp::sum, 0,
                                    {.scale = 1, .priority = 0, .timeout_ms = 0, .algorithm = "rig"});
    EXPECT(nothing.status().code() == ErrorCode::invalid_argument);
    EXPECT(!c.estimate(Collective::send, 5, DataType::int32).ok());
    EXPECT(!c.estimate(Collective::broadcast, 5, DataType::int32, ReduceOp::sum, 4).ok());
    auto half = c.split(c.rank() % 2);
    EXPECT_OK(half.status());
    EXPECT_OK((*half)->estimate(Collective::all_gather, 5, DataType::int32).status());
  });
  CHECK(failures == "");
  for (const auto& mine : seen) {
    REQUIRE(mine.size() == seen[0].size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      CHECK(mine[i].algorithm == seen[0][i].algorithm);
      CHECK(mine[i].time_us == seen[0][i].time_us);
    }
  }
}

}  // namespace strata::test
