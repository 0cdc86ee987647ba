// The real group, its members advanced in random order: any sequence of calls, with any member ahead of any
// other as far as the slots allow, gives right results; and who may sleep is woken.
#include <memory>

#include "tests/local/group_calls.hpp"
#include "tests/local/group_world.hpp"

namespace strata::test {
namespace {

// Each member goes through the same calls at its own pace.
struct Runner {
  std::uint64_t next = 0;
  std::unique_ptr<Part> part;
};

void run_calls(GroupWorld& world, int size, const std::vector<Call>& calls, Random& random) {
  std::vector<Runner> runners(static_cast<std::size_t>(size));
  int running = size;
  std::uint64_t idle = 0;
  while (running > 0) {
    const int m = static_cast<int>(random() % static_cast<unsigned>(size));
    Runner& r = runners[static_cast<std::size_t>(m)];
    if (r.next == calls.size()) continue;
    ShmGroup& group = world.group(m);
    if (!r.part) {
      r.part = std::make_unique<Part>(calls[r.next], r.next, size, m);
      group.begin(r.part->call());
    }
    const bool news = group.has_news();
    const auto progress = group.advance();
    INFO("call " << r.next << ", " << to_string(calls[r.next].collective) << " of " << calls[r.next].count
                 << " at member " << m);
    REQUIRE((progress == ShmGroup::Progress::waits || progress == ShmGroup::Progress::moved ||
             progress == ShmGroup::Progress::ended));
    if (!news) REQUIRE(progress == ShmGroup::Progress::waits);  // else a sleeper would miss it
    idle = progress == ShmGroup::Progress::waits ? idle + 1 : 0;
    REQUIRE(idle < 100'000);  // nobody moves: a deadlock
    if (progress != ShmGroup::Progress::ended) continue;
    r.part->check();
    r.part.reset();
    world.tend();
    if (++r.next == calls.size()) --running;
  }
}

}  // namespace

TEST_CASE("random calls, members advanced in random order") {
  const std::uint64_t seed = GENERATE(range(1, 25));
  CAPTURE(seed);
  Random random(seed);
  const int size = 2 + static_cast<int>(random() % 5);
  // Members read each other's memory wherever they can; in every third world one of them lets nobody.
  const auto wherever_it_can_be = [](const Shape&) { return true; };
  const unsigned reads = seed % 3 == 0 ? ~(1u << random() % static_cast<unsigned>(size)) : ~0u;
  GroupWorld world(size, wherever_it_can_be, reads);
  std::vector<Call> calls;
  for (int i = 0; i < 60; ++i) calls.push_back(random_call(random, size));
  run_calls(world, size, calls, random);
}

TEST_CASE("a member that called something else is named") {
  GroupWorld world(3);
  Part a({Collective::all_reduce, kNoRank, 4, false, 0}, 5, 3, 0),
      b({Collective::all_reduce, kNoRank, 4, false, 0}, 6, 3, 1),
      c({Collective::all_reduce, kNoRank, 4, false, 0}, 5, 3, 2);
  world.group(0).begin(a.call());
  world.group(1).begin(b.call());
  world.group(2).begin(c.call());
  for (int i = 0; i < 3; ++i) world.group(2).advance();
  for (int i = 0; i < 3; ++i) world.group(1).advance();
  auto progress = ShmGroup::Progress::moved;
  while (progress == ShmGroup::Progress::moved) progress = world.group(0).advance();
  for (int i = 0; i < 3; ++i) world.group(1).advance();
  while ((progress = world.group(0).advance()) == ShmGroup::Progress::moved) {
  }
  REQUIRE(progress == ShmGroup::Progress::mismatch);
  CHECK(world.group(0).whom() == 1);
  CHECK(world.group(0).their_mark() == CallMark{6, 1});
}

TEST_CASE("who publishes rings the bell of a sleeper, once") {
  GroupWorld world(2);
  Part a({Collective::barrier, kNoRank, 0, false, 0}, 1, 2, 0),
      b({Collective::barrier, kNoRank, 0, false, 0}, 1, 2, 1);
  world.group(0).begin(a.call());
  while (world.group(0).advance() == ShmGroup::Progress::moved) {
  }
  world.sleeping(0).store(1);
  CHECK(!world.group(0).has_news());
  world.group(1).begin(b.call());
  while (world.group(1).advance() == ShmGroup::Progress::moved) {
  }
  CHECK(world.sleeping(0).load() == 0);
  CHECK(world.group(0).has_news());
  CHECK(world.group(0).advance() == ShmGroup::Progress::ended);
}

}  // namespace strata::test
