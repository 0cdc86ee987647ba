// Members whose buffers go away while others read them: never a wrong result, and the right one to blame.
#include <sys/mman.h>

#include "ccl/shm/words.hpp"
#include "tests/local/group_calls.hpp"
#include "tests/local/group_world.hpp"

namespace strata::test {
namespace {

using Progress = ShmGroup::Progress;

bool wherever_it_can_be(const Shape&) { return true; }

// An all-to-all of two members, of private buffers, of which more is read than goes into one step.
struct Pair {
  static constexpr std::uint64_t kCount = 1 << 20;

  Pair() {
    for (int m = 0; m < 2; ++m) world.group(m).begin(parts[m].call());
    // Until each has announced its buffer, has tried to read the other's, and has begun to.
    for (int i = 0; i < 3; ++i)
      for (int m = 0; m < 2; ++m) REQUIRE(world.group(m).advance() == Progress::moved);
  }
  Progress finish(int member) {
    Progress p = Progress::moved;
    while (p == Progress::moved) p = world.group(member).advance();
    return p;
  }

  const Call call{Collective::all_to_all, kNoRank, kCount, false, 0};
  GroupWorld world{2, wherever_it_can_be};
  Part parts[2] = {{call, 1, 2, 0}, {call, 1, 2, 1}};
};

}  // namespace

TEST_CASE("members that are through with each other's buffers end the call") {
  Pair pair;
  CHECK(pair.finish(0) == Progress::waits);
  CHECK(pair.finish(1) == Progress::ended);
  CHECK(pair.finish(0) == Progress::ended);
  for (Part& part : pair.parts) part.check();
}

TEST_CASE("who reads a buffer that its member has given up does not end well") {
  Pair pair;
  pair.world.group(1).give_up();
  std::fill_n(pair.parts[1].memory(), pair.parts[1].memory_bytes(),
              std::byte{0});                 // it is the caller's again
  CHECK(pair.finish(0) == Progress::waits);  // until it is told why
  CHECK(pair.world.group(0).whom() == 1);
  CHECK(pair.world.group(0).has_news());  // that will not be long
}

TEST_CASE("a buffer that is unmapped during the call fails it, and its rank is named") {
  Pair pair;
  const auto at = reinterpret_cast<std::uintptr_t>(pair.parts[1].memory());
  const std::uintptr_t begin = (at + shm::kPageBytes - 1) / shm::kPageBytes * shm::kPageBytes;
  const std::uintptr_t length =
      (at + pair.parts[1].memory_bytes() / 2 - begin) / shm::kPageBytes * shm::kPageBytes;
  REQUIRE(::mprotect(reinterpret_cast<void*>(begin), length, PROT_NONE) == 0);
  const Progress p = pair.finish(0);
  REQUIRE(::mprotect(reinterpret_cast<void*>(begin), length, PROT_READ | PROT_WRITE) == 0);
  REQUIRE(p == Progress::failed);
  const std::string message(pair.world.group(0).failure().message());
  CAPTURE(message);
  CHECK(message.starts_with("the buffer of rank 1: process_vm_readv"));
}

TEST_CASE("where one member keeps its memory to itself, calls go through the slots") {
  const Call call{Collective::scatter, 0, 100'000, false, 0};
  const unsigned reads = GENERATE(1u, 2u);
  GroupWorld world(2, wherever_it_can_be, reads);
  Part a(call, 1, 2, 0), b(call, 1, 2, 1);
  world.group(0).begin(a.call());
  world.group(1).begin(b.call());
  Progress p = Progress::moved;
  for (int i = 0; p != Progress::ended && i < 1000; ++i) {
    (void)world.group(0).advance();
    p = world.group(1).advance();
  }
  REQUIRE(p == Progress::ended);
  CHECK(world.group(1).rounds() == 7);  // of 400 000 bytes, in halves of slots of 128 KiB
  b.check();
}

}  // namespace strata::test
