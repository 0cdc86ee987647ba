// What is particular to the memory transport and to the faulty one.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

#include "ccl/transport/factories.hpp"
#include "tests/transport/conformance.hpp"

namespace strata::test {
namespace {

// Runs it in a child process; true: it was stopped by a failed check.
template <class F>
bool aborts(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);
    f();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

TEST_CASE("the memory transport refuses what its capabilities exclude") {
  TestListener listener;
  const auto hub = make_memory_hub(2, {.fused_recv_reduce = false, .message_bytes_max = 1000});
  const auto transport = make_memory_transport(hub, 0, listener);
  CHECK_FALSE(transport->capabilities().fused_recv_reduce);
  CHECK(transport->capabilities().message_bytes_max == 1000);
  std::array<std::byte, 1004> memory{};
  WireOp op;
  op.peer = 1;
  op.data = memory.data();
  op.length = 1001;
  CHECK(aborts([&] { transport->post(op); }));
  op.length = 1000;
  CHECK_FALSE(aborts([&] { transport->post(op); }));
  op.kind = WireKind::recv_reduce;
  op.element_bytes = 4;
  op.addend = memory.data();
  op.reduce = [](void*, const void*, const void*, std::size_t) {};
  CHECK(aborts([&] { transport->post(op); }));
  op.kind = WireKind::send;
  op.peer = 0;
  CHECK(aborts([&] { transport->post(op); }));
}

Instance cut_off_at_random(std::string name) {
  for (Instance instance : instances()) {
    if (instance.name != name) continue;
    instance.make = [make = instance.make](std::span<Listener* const> listeners, std::uint64_t seed) {
      Ends ends = make(listeners, seed);
      for (auto& end : ends)
        end = make_faulty_transport(std::move(end), {.seed = ++seed * 7919, .peer_death = 0.01});
      return ends;
    };
    return instance;
  }
  FAIL("no instance " << name);
  return {};
}

// A rank that is cut off loses all its peers, they lose it, and all others go on.
TEST_CASE("ranks cut off at random: every op ends, and only theirs are lost") {
  for (const char* name : {"memory", "stream, rings of 256 KiB"}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      CAPTURE(name, seed);
      World world(cut_off_at_random(name), 4, seed);
      for (int i = 0; i < 60; ++i) {
        const auto from = static_cast<Rank>(world.pick(0, 3));
        const auto to = static_cast<Rank>((from + static_cast<Rank>(world.pick(1, 3))) % 4);
        world.post_both(world.parcel(from, to, world.pick(0, 1) ? 100 : 20'000));
        world.steps(static_cast<int>(world.pick(0, 5)));
      }
      REQUIRE(world.run_to_end());
      for (const Parcel& parcel : world.parcels()) {
        const bool lost = !world.at(parcel.from).peer_status(parcel.to).ok() ||
                          !world.at(parcel.to).peer_status(parcel.from).ok();
        for (const auto& outcome : {parcel.sent, parcel.received}) {
          CHECK((outcome->error == ErrorCode::ok || (lost && outcome->error == ErrorCode::peer_lost)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata::test
