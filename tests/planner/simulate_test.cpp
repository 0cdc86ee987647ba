// Predictions are those of the closed forms where there are such, and never beat what no schedule can.
#include "ccl/planner/simulate.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "tests/schedule/world.hpp"

namespace strata::test {
namespace {

constexpr Picoseconds kSend = 1000, kRecv = 700, kLatency = 50'000, kWire = 3000;  // the last: a KiB
constexpr Picoseconds kMessage = kSend + kLatency + kRecv;

// One rank on each host, and nothing has a price but messages.
CostModel bare_model(int size) {
  CostModel model;
  model.costs.of(LinkKind::tcp) = {.send_ps = kSend,
                                   .recv_ps = kRecv,
                                   .latency_ps = kLatency,
                                   .wire_ps_per_kib = kWire,
                                   .eager_bytes = ~0ull};
  model.placement.host.resize(static_cast<std::size_t>(size));
  std::iota(model.placement.host.begin(), model.placement.host.end(), 0);
  model.placement.cores.assign(static_cast<std::size_t>(size), 1);
  return model;
}

// `hosts` hosts with `each` ranks and `cores` cores, at the built-in prices.
CostModel real_model(int hosts, int each, int cores, LinkKind within = LinkKind::shm) {
  CostModel model{default_costs(), {}};
  for (int r = 0; r < hosts * each; ++r) model.placement.host.push_back(r / each);
  model.placement.cores.assign(static_cast<std::size_t>(hosts), cores);
  model.placement.within = within;
  return model;
}

Request request_of(Collective collective, std::uint64_t count, Rank root = 0) {
  Request request;
  request.collective = collective;
  request.count = count;
  request.root = root;
  return request;
}

Schedules schedules_of(const Algorithm& algorithm, const Request& request, int size,
                       const Tuning& tuning = {}) {
  return derive_all(build_all(algorithm, same_on_all(request, size), tuning));
}

Picoseconds predict(const char* name, const Request& request, const CostModel& model,
                    const Tuning& tuning = {}) {
  const Algorithm* algorithm = find_algorithm(request.collective, name);
  REQUIRE(algorithm != nullptr);
  return simulate(schedules_of(*algorithm, request, model.size(), tuning), model);
}

Picoseconds wire(std::uint64_t bytes) { return time_of(bytes, kWire); }
int log2_of(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

}  // namespace

TEST_CASE("rates are exact for whole KiB and never overflow") {
  CHECK(time_of(0, 5000) == 0);
  CHECK(time_of(1024, 5000) == 5000);
  CHECK(time_of(1536, 5000) == 7500);
  CHECK(time_of(1, 5000) == 4);
  CHECK(time_of(~0ull, 1'000'000) == time_of(1ull << 43, 1'000'000));
  CHECK(time_of(~0ull, 1'000'000) > 0);
}

TEST_CASE("a ring takes 2 (n - 1) messages one after another") {
  for (const int size : {2, 3, 4, 7, 8, 16}) {
    CAPTURE(size);
    const auto n = static_cast<std::uint64_t>(size);
    const std::uint64_t chunk = 16 << 10;
    CHECK(predict("ring", request_of(Collective::all_reduce, n * chunk), bare_model(size)) ==
          2 * (size - 1) * (kMessage + wire(chunk)));
    CHECK(predict("ring", request_of(Collective::all_gather, chunk), bare_model(size)) ==
          (size - 1) * (kMessage + wire(chunk)));
  }
}

TEST_CASE("recursive doubling takes log n messages of everything") {
  for (const int size : {2, 4, 8, 16, 32}) {
    CAPTURE(size);
    const std::uint64_t bytes = 8 << 10;
    CHECK(predict("recursive_doubling", request_of(Collective::all_reduce, bytes), bare_model(size)) ==
          log2_of(size) * (kMessage + wire(bytes)));
  }
}

TEST_CASE("a binomial tree is as deep as it is long, from any root") {
  CostModel model = bare_model(16);
  model.costs.of(LinkKind::tcp).wire_ps_per_kib = 0;
  for (const Rank root : {0, 5, 15}) {
    CHECK(predict("binomial_tree", request_of(Collective::broadcast, 64, root), model) == 4 * kMessage);
    CHECK(predict("binomial_tree", request_of(Collective::reduce, 64, root), model) == 4 * kMessage);
  }
}

TEST_CASE("one shot pays for n - 1 sends or n - 1 receives, and one latency") {
  for (const int size : {2, 3, 4, 8, 16}) {
    CAPTURE(size);
    CostModel model = bare_model(size);
    LinkCost& link = model.costs.of(LinkKind::tcp);
    link.wire_ps_per_kib = 0;
    const Request request = request_of(Collective::all_reduce, 64);
    CHECK(predict("one_shot", request, model) == (size - 1) * kSend + kLatency + kRecv);
    link.recv_ps = 3000;
    CHECK(predict("one_shot", request, model) == kSend + kLatency + (size - 1) * link.recv_ps);
    link.recv_ps = kRecv;
    link.wire_ps_per_kib = 1024 * 2000;  // now the NIC is what is short
    CHECK(predict("one_shot", request, model) == kSend + kLatency + kRecv + (size - 1) * 64 * 2000);
  }
}

TEST_CASE("CPU and wire of a message overlap but for a grain") {
  CostModel model = bare_model(2);
  LinkCost& link = model.costs.of(LinkKind::tcp);
  link.send_ps_per_kib = 2000;
  link.recv_ps_per_kib = 2500;
  link.grain_bytes = 4 << 10;
  const std::uint64_t bytes = 1 << 20, grain = 4 << 10;
  const Request request = request_of(Collective::broadcast, bytes);
  // The wire is the slowest: all of it, and a grain at each end.
  CHECK(predict("binomial_tree", request, model) ==
        kMessage + time_of(grain, 2000) + time_of(bytes, kWire) + time_of(grain, 2500));
  link.recv_ps_per_kib = 9000;  // now the receiver is: a grain before it
  CHECK(predict("binomial_tree", request, model) ==
        kMessage + time_of(grain, 2000) + time_of(grain, kWire) + time_of(bytes, 9000));
}

TEST_CASE("a long message waits for its announcement") {
  CostModel model = bare_model(2);
  LinkCost& link = model.costs.of(LinkKind::tcp);
  link.eager_bytes = 1024;
  const Picoseconds eager = predict("binomial_tree", request_of(Collective::broadcast, 1024), model);
  const Picoseconds announced = predict("binomial_tree", request_of(Collective::broadcast, 2048), model);
  CHECK(eager == kMessage + kWire);
  CHECK(announced == 2 * kMessage + 2 * kWire);
}

TEST_CASE("ranks that outnumber cores share them") {
  // Four independent copies on one core take four times one; on four cores they take one.
  const Request request = request_of(Collective::all_gather, 1 << 20);
  CostModel model = real_model(1, 4, 4);
  model.costs = {};
  model.costs.local.copy_ps_per_kib = 1000;
  const Picoseconds each = time_of(1 << 20, 1000);
  CHECK(predict("direct", request, model) == each);
  model.placement.cores[0] = 2;
  CHECK(predict("direct", request, model) == 2 * each);
  model.placement.cores[0] = 1;
  CHECK(predict("direct", request, model) == 4 * each);
}

TEST_CASE("on uniform links it does not matter who is who") {
  std::mt19937 random(7);
  for (const Algorithm& algorithm : catalog()) {
    const int size = 8;
    const Request request = request_of(algorithm.collective, 10'000, 3);
    if (!algorithm.supports(request, whole_group(size, 0))) continue;
    CAPTURE(algorithm.name, to_string(algorithm.collective));
    const Schedules schedules = schedules_of(algorithm, request, size);
    const CostModel model = bare_model(size);
    const Picoseconds expected = simulate(schedules, model);
    std::vector<Rank> renamed(static_cast<std::size_t>(size));
    std::iota(renamed.begin(), renamed.end(), 0);
    for (int round = 0; round < 5; ++round) {
      std::shuffle(renamed.begin(), renamed.end(), random);
      Schedules other(schedules.size());
      for (std::size_t r = 0; r < schedules.size(); ++r) {
        Schedule s = schedules[r];
        for (Step& step : s.steps)
          if (step.on_wire()) step.peer = renamed[static_cast<std::size_t>(step.peer)];
        other[static_cast<std::size_t>(renamed[r])] = std::move(s);
      }
      CHECK(simulate(other, model) == expected);
    }
  }
}

// But for the order in which a CPU takes what came at nearly the same time.
TEST_CASE("more data never takes less time") {
  constexpr Picoseconds kOrderPercent = 2;
  for (const Algorithm& algorithm : catalog())
    for (const CostModel& model : {bare_model(6), real_model(1, 8, 8),
                                   real_model(1, 4, 2, LinkKind::tcp_local), real_model(2, 4, 4)}) {
      Picoseconds before = 0;
      for (std::uint64_t count = 64; count <= (1 << 20); count *= 2) {
        const Request request = request_of(algorithm.collective, count);
        if (!algorithm.supports(request, whole_group(model.size(), 0))) break;
        CAPTURE(algorithm.name, to_string(algorithm.collective), model.size(), count);
        const Picoseconds time =
            simulate(schedules_of(algorithm, request, model.size(), {1, 256 << 10}), model);
        CHECK(time >= before - before * kOrderPercent / 100);
        before = time;
      }
    }
}

TEST_CASE("no prediction beats the bandwidth bound") {
  // Every byte of a reduced result was influenced by every host, and goes back to all of them.
  for (const int hosts : {2, 3, 4})
    for (const int each : {1, 2, 4}) {
      const CostModel model = real_model(hosts, each, each);
      const int size = hosts * each;
      const std::uint64_t bytes = static_cast<std::uint64_t>(hosts * each) << 16;
      const Picoseconds all = time_of(bytes, model.costs.of(LinkKind::tcp).wire_ps_per_kib);
      for (const Algorithm& algorithm : catalog()) {
        Request request = request_of(algorithm.collective, bytes);
        const bool parts = algorithm.collective == Collective::reduce_scatter ||
                           algorithm.collective == Collective::all_gather;
        if (parts) request.count = bytes / static_cast<std::uint64_t>(size);
        if (!algorithm.supports(request, whole_group(size, 0))) continue;
        Picoseconds bound = 0;
        if (algorithm.collective == Collective::all_reduce) bound = 2 * (hosts - 1) * all / hosts;
        if (parts) bound = (hosts - 1) * all / hosts;
        if (algorithm.collective == Collective::broadcast) bound = all;
        CAPTURE(algorithm.name, to_string(algorithm.collective), hosts, each);
        CHECK(simulate(schedules_of(algorithm, request, size, {1, 64 << 10}), model) >= bound);
      }
    }
}

TEST_CASE("several channels are matched, and two runs agree") {
  const Algorithm& ring = *find_algorithm(Collective::all_reduce, "ring");
  const Request request = request_of(Collective::all_reduce, 100'000);
  for (const int channels : {1, 2, 3}) {
    const Schedules schedules = schedules_of(ring, request, 5, {channels, 3000});
    const CostModel model = real_model(1, 5, 2);
    CHECK(simulate(schedules, model) == simulate(schedules, model));
  }
  CHECK(simulate(schedules_of(ring, request, 1), real_model(1, 1, 1)) > 0);  // a copy
}

TEST_CASE("a model of some ranks keeps their hosts") {
  const CostModel model = real_model(3, 2, 2);
  const std::vector<Rank> members = {5, 0, 1};
  const CostModel part = model.of_members(members);
  CHECK(part.size() == 3);
  CHECK(part.kind(1, 2) == LinkKind::shm);
  CHECK(part.kind(0, 1) == LinkKind::tcp);
}

}  // namespace strata::test
