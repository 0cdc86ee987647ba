// The runtime's small parts: queue, plan cache, selector, scratch pool, descriptions.
#include <catch2/catch.hpp>

#include <cstring>
#include <map>
#include <thread>

#include "ccl/base/bounded_queue.hpp"
#include "ccl/base/memory_budget.hpp"
#include "ccl/planner/plan_cache.hpp"
#include "ccl/planner/selector.hpp"
#include "ccl/runtime/control.hpp"
#include "ccl/runtime/describe.hpp"
#include "ccl/runtime/scratch_pool.hpp"
#include "ccl/topology/cpus.hpp"

using namespace strata;

TEST_CASE(
    "the bounded queue keeps each producer's order, loses and doubles nothing, and says when it is full") {
  BoundedQueue<int> queue(8);
  for (int i = 0; i < 8; ++i) {
    int v = i;
    REQUIRE(queue.try_push(v));
  }
  int over = 99;
  CHECK(!queue.try_push(over));
  CHECK(over == 99);
  for (int i = 0, v = 0; i < 8; ++i) {
    REQUIRE(queue.try_pop(v));
    CHECK(v == i);
  }
  constexpr int kEach = 20'000, kProducers = 3;
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p)
    producers.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i)
        for (int v = p * kEach + i; !queue.try_push(v);) std::this_thread::yield();
    });
  std::vector<int> last(kProducers, -1);
  bool ordered = true;
  for (int taken = 0, v = 0; taken < kEach * kProducers;) {
    if (!queue.try_pop(v)) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    int& before = last[static_cast<std::size_t>(v / kEach)];
    ordered = ordered && v % kEach == before + 1;
    before = v % kEach;
  }
  for (std::thread& t : producers) t.join();
  CHECK(ordered);
  CHECK(queue.empty());
}

TEST_CASE("the plan cache finds what was used lately and forgets the rest") {
  PlanCache cache;
  const auto key = [](std::uint64_t count) {
    PlanKey k;
    k.request.collective = Collective::all_reduce;
    k.request.count = count;
    return k;
  };
  for (std::uint64_t i = 0; i < PlanCache::kPlansMax + 10; ++i) {
    cache.insert(key(i), std::make_shared<Plan>());
    CHECK(cache.find(key(0)));  // used all the time: it stays
  }
  CHECK(cache.size() == PlanCache::kPlansMax);
  CHECK(!cache.find(key(1)));
  CHECK(cache.find(key(PlanCache::kPlansMax + 9)));
  PlanKey other = key(0);
  other.request.in_place = true;
  CHECK(!cache.find(other));
}

TEST_CASE("every request finds an algorithm that supports it") {
  std::map<int, Selector> selectors;
  for (const int size : {1, 2, 3, 4, 7, 8, 9, 16, 64})
    selectors.try_emplace(size, CostModel{default_costs(), one_host(size, LinkKind::shm)});
  for (int k = 0; k <= static_cast<int>(Collective::scatter); ++k)
    for (int t = 0; t < kDataTypes; ++t)
      for (int o = 0; o < kReduceOps; ++o)
        for (const int size : {1, 2, 3, 4, 7, 8, 9, 16, 64})
          for (const std::uint64_t count : {0ull, 1ull, 1000ull, 100'000ull, 10'000'000ull})
            for (const bool v : {false, true}) {
              Request r;
              r.collective = static_cast<Collective>(k);
              r.type = static_cast<DataType>(t);
              r.op = static_cast<ReduceOp>(o);
              r.root = size - 1;
              r.count = count;
              const bool has_v =
                  r.collective >= Collective::reduce_scatter && r.collective != Collective::all_reduce;
              if (v && !has_v) continue;
              if (v) r.counts.assign(static_cast<std::size_t>(size), count);
              if (v && r.collective == Collective::all_to_all) r.recv_counts = r.counts;
              const auto choice = selectors.at(size).select(r, {}, false);
              REQUIRE(choice.ok());
              for (int me = 0; me < size; ++me)
                REQUIRE(choice->algorithm->supports(r, whole_group(size, me)));
            }
}

TEST_CASE("the scratch pool gives back what fits best and keeps within its limits") {
  ScratchPool pool;
  Scratch small = pool.take(1000), large = pool.take(100'000);
  CHECK(pool.take(0).memory == nullptr);
  std::byte* const at = small.memory.get();
  pool.give(std::move(small));
  pool.give(std::move(large));
  const Scratch again = pool.take(900);
  CHECK(again.memory.get() == at);
  for (int i = 0; i < 100; ++i) pool.give(pool.take(20 << 20));
  pool.give({std::make_unique_for_overwrite<std::byte[]>(1),
             MemoryBudget::kDefaultBytes + 1});  // too large to keep
}

TEST_CASE("control messages with impossible fields are refused") {
  ControlMessage good;
  good.set_text(std::string(5000, 'x'));
  CHECK(good.valid());
  CHECK(good.text_view().size() == ControlMessage::kTextMax);
  for (std::size_t byte = 0; byte < 16; ++byte)
    for (const int value : {0x7f, 0xff}) {
      ControlMessage bad = good;
      std::memcpy(reinterpret_cast<char*>(&bad) + byte, &value, 1);
      (void)bad.valid();
      CHECK(bad.text_view().size() <= ControlMessage::kTextMax);  // safe to read whatever it says
    }
  ControlMessage bad = good;
  bad.text_length = 1 << 30;
  CHECK(!bad.valid());
  bad = good;
  bad.magic = 0;
  CHECK(!bad.valid());
}

TEST_CASE("fingerprints are described, sane or not") {
  Fingerprint f;
  f.collective = static_cast<std::uint8_t>(Collective::broadcast);
  f.type = static_cast<std::uint8_t>(DataType::int8);
  f.root = 3;
  f.count = 12;
  CHECK(describe(f) == "broadcast(count 12, int8, root 3)");
  for (int byte = 0; byte < 256; ++byte) {
    f.collective = f.type = f.op = f.flags = static_cast<std::uint8_t>(byte);
    CHECK(!describe(f).empty());
  }
}

TEST_CASE("cores are counted over all the sets of a host, and the quota's text is understood") {
  const std::vector<std::string> shared{"0-3", "0-3"}, apart{"0", "2-3"}, unknown{"", "nonsense"};
  CHECK(cores_of(shared) <= 4);  // a container's quota may leave less
  CHECK(cores_of(apart) <= 3);
  CHECK(cores_of(unknown) == 1);
  CHECK(!allowed_cpus().empty());
  CHECK(cores_of(std::vector<std::string>{allowed_cpus()}) >= 1);
  CHECK(quota_cores("max 100000") == 0);
  CHECK(quota_cores("150000 100000") == 2);
  CHECK(quota_cores("50000 100000") == 1);
  CHECK(quota_cores("") == 0);
}
