// The selector takes what is predicted to be cheapest, the same for the same question, and what is forced.
#include "ccl/planner/selector.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "ccl/planner/predict.hpp"

namespace strata {
namespace {

Request request_of(Collective collective, std::uint64_t count, DataType type = DataType::float32) {
  Request request;
  request.collective = collective;
  request.type = type;
  request.count = count;
  const bool rooted = collective == Collective::broadcast || collective == Collective::reduce ||
                      collective == Collective::gather || collective == Collective::scatter;
  if (rooted) request.root = 1;
  return request;
}

CostModel model_of(int ranks, int cores, LinkKind within) {
  CostModel model{default_costs(), one_host(ranks, within)};
  model.placement.cores[0] = cores;
  return model;
}

constexpr Collective kAllCollectives[] = {
    Collective::barrier,    Collective::broadcast,      Collective::reduce,
    Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
    Collective::all_to_all, Collective::gather,         Collective::scatter};

}  // namespace

TEST_CASE("between hosts that ranks share, large data go level by level, whatever the order of ranks") {
  const auto model = [](std::vector<int> host) {
    return CostModel{default_costs(), {std::move(host), {8, 8}, LinkKind::shm}};
  };
  const Selector packed(model({0, 0, 0, 0, 1, 1, 1, 1})), dealt(model({0, 1, 0, 1, 0, 1, 0, 1}));
  for (const Collective c : {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
                             Collective::broadcast, Collective::reduce}) {
    const Request r = with_bytes(request_of(c, 0), 16 << 20, 8);
    CAPTURE(to_string(c));
    const Candidate best = packed.explain(r, {}).value().front(),
                    other = dealt.explain(r, {}).value().front();
    CHECK(best.choice.algorithm->name == "hierarchical");
    CHECK(other.choice == best.choice);
    CHECK(std::abs(other.predicted_ps - best.predicted_ps) < best.predicted_ps / 50);
  }
  // A rank a host, or one host: there are no levels.
  for (const std::vector<int>& host : {std::vector<int>{0, 1}, std::vector<int>{0, 0, 0}}) {
    CHECK(model(host).levels == nullptr);
    const auto forced =
        Selector(model(host)).select(request_of(Collective::all_reduce, 100), "hierarchical", true);
    CHECK(forced.status().code() == ErrorCode::invalid_argument);
    // Only what would do is offered.
    const std::string message(forced.status().message());
    CHECK(message.find("ring") != std::string::npos);
    CHECK(message.find("hierarchical", message.find("choose")) == std::string::npos);
  }
}

TEST_CASE("more ranks than are simulated go level by level too, in larger segments") {
  std::vector<int> host;
  for (int rank = 0; rank < 64; ++rank) host.push_back(rank / 8);
  const Selector selector({default_costs(), {host, std::vector<int>(8, 8), LinkKind::shm}});
  const Choice chosen = selector.select(request_of(Collective::all_reduce, 16 << 20), {}, false).value();
  CHECK(chosen.algorithm->name == "hierarchical");
  CHECK(chosen.tuning.segment_bytes == 4 << 20);
}

TEST_CASE("the cheapest is chosen, in any order of questions and by any rank") {
  for (const CostModel& model : {model_of(4, 2, LinkKind::tcp_local), model_of(7, 8, LinkKind::shm)}) {
    std::vector<Request> requests;
    for (const Collective collective : kAllCollectives)
      for (std::uint64_t bytes = 4; bytes <= (64 << 20); bytes *= 16)
        requests.push_back(with_bytes(request_of(collective, 0), bytes, model.size()));
    const Selector one(model), other(model);
    std::vector<Choice> first;
    for (const Request& r : requests) first.push_back(one.select(r, {}, false).value());
    std::vector<std::size_t> order(requests.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    for (const std::size_t i : order) {
      Request r = requests[i];
      CAPTURE(to_string(r.collective), r.count, first[i].algorithm->name);
      r.in_place = true;  // ranks may differ in it
      CHECK(other.select(r, {}, false).value() == first[i]);
      CHECK(one.select(r, {}, false).value() == first[i]);  // as remembered
      const auto candidates = one.explain(requests[i], {}).value();
      CHECK(candidates[0].choice == first[i]);
      const bool exact = requests[i].collective == Collective::all_reduce;  // sizes at the begin of a bucket
      for (const Candidate& c : candidates)
        CHECK((!exact || c.predicted_ps >= candidates[0].predicted_ps / 100 * 90 - 100));
    }
  }
}

TEST_CASE("ranks that share cores do not all send to all") {
  const Selector selector(model_of(4, 2, LinkKind::tcp_local));
  const Choice choice = selector.select(request_of(Collective::all_reduce, 2), {}, false).value();
  CHECK(choice.algorithm->name == "recursive_doubling");
}

TEST_CASE("where messages cost nothing but latency, one round is the best") {
  CostModel model = model_of(8, 8, LinkKind::shm);
  LinkCost& link = model.costs.of(LinkKind::shm);
  link.send_ps = link.recv_ps = 1000;
  link.latency_ps = 10'000'000;
  const Selector selector(model);
  CHECK(selector.select(request_of(Collective::all_reduce, 2), {}, false)->algorithm->name == "one_shot");
  CHECK(selector.select(request_of(Collective::all_gather, 2), {}, false)->algorithm->name == "direct");
}

TEST_CASE("narrow floats are summed by algorithms that round once") {
  for (const int size : {2, 5, 16, 40})
    for (const DataType type : {DataType::bfloat16, DataType::float8_e4m3})
      for (const std::uint64_t count : {1ull, 5000ull, 10'000'000ull})
        for (const Collective collective :
             {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter}) {
          const Selector selector(model_of(size, size, LinkKind::shm));
          const std::string_view name =
              selector.select(request_of(collective, count, type), {}, false)->algorithm->name;
          CHECK((name == "one_shot" || name == "direct"));
        }
}

TEST_CASE("what is forced is taken where it applies") {
  const Selector selector(model_of(6, 6, LinkKind::shm));
  const Request small = request_of(Collective::all_reduce, 1);
  CHECK(selector.select(small, "ring", true)->algorithm->name == "ring");
  CHECK(selector.select(small, "bruck", false).ok());  // a communicator's default for other collectives
  CHECK(selector.select(small, "bruck", true).status().code() == ErrorCode::invalid_argument);
  const Request gather = request_of(Collective::all_gather, 1);
  CHECK(!selector.select(gather, "recursive_doubling", true).ok());  // six is no power of two
  CHECK(selector.select(gather, "recursive_doubling", false).ok());
  CHECK(selector.explain(small, "ring")->front().choice.algorithm->name == "ring");
}

TEST_CASE("counts of the v forms count by their sum") {
  const Selector selector(model_of(4, 4, LinkKind::shm));
  for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
    Request v = request_of(collective, 0);
    v.counts = {0, 1000, 0, 3000};
    const Request even = request_of(collective, 1000);
    CHECK(selector.select(v, {}, false).value() == selector.select(even, {}, false).value());
  }
  Request exchange = request_of(Collective::all_to_all, 0);
  exchange.counts = {1, 2, 3, 4};
  exchange.recv_counts = {4, 2, 3, 1};
  CHECK(selector.select(exchange, {}, false)->algorithm->name == "pairwise");
}

TEST_CASE("many ranks are served without a simulation") {
  const Selector selector(model_of(1000, 1000, LinkKind::shm));
  const auto name = [&](std::uint64_t count) {
    return selector.select(request_of(Collective::all_reduce, count), {}, false)->algorithm->name;
  };
  CHECK(name(1) == "recursive_doubling");
  CHECK(name(16 << 10) == "halving_doubling");
  CHECK(name(16 << 20) == "ring");
}

TEST_CASE("predictions grow with size, also where they are extrapolated, and are not below the bound") {
  const CostModel model = model_of(4, 4, LinkKind::tcp_local);
  for (const Algorithm& a : catalog()) {
    Picoseconds before = 0;
    for (std::uint64_t bytes = 1 << 12; bytes <= (1ull << 40); bytes *= 4) {
      const Request r = with_bytes(request_of(a.collective, 0), bytes, model.size());
      if (!a.supports(r, whole_group(model.size(), 0))) break;
      const Tuning tuning{1, 64 << 10};
      const Picoseconds time = predict(a, r, tuning, model);
      CAPTURE(a.name, to_string(a.collective), bytes);
      CHECK(time >= before);
      CHECK(time >= least_time(a, r, tuning, model));
      before = time;
    }
  }
}

TEST_CASE("extrapolation is near to what a simulation in full gives") {
  const CostModel model = model_of(4, 4, LinkKind::tcp_local);
  for (const char* name : {"ring", "halving_doubling", "recursive_doubling", "direct"}) {
    const Algorithm& a = *find_algorithm(Collective::all_reduce, name);
    const Request r = request_of(Collective::all_reduce, 2 << 20);  // 8 MiB
    const auto full = static_cast<double>(predict(a, r, {1, 2 << 20}, model));
    const auto short_cut = static_cast<double>(predict(a, r, {1, 256 << 10}, model));
    CAPTURE(name, full, short_cut);
    CHECK(short_cut < 1.3 * full);
    CHECK(full < 1.3 * short_cut);
  }
}

TEST_CASE("the cache of choices finds what was put in, and nothing else") {
  ChoiceCache cache;
  std::mt19937_64 random(11);
  CHECK(!cache.find(0));
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t key = random() >> 12;
    const auto value = static_cast<std::uint8_t>(key);
    cache.insert(key, value);
    CHECK(cache.find(key) == value);
    const std::uint64_t other = random() >> 12;
    if (const auto found = cache.find(other)) CHECK(*found == static_cast<std::uint8_t>(other));
  }
}

}  // namespace strata
