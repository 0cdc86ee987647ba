// Law: whatever the order of posts, polls, cancels and deaths, each op completes once, and right.
#include <algorithm>

#include "tests/transport/conformance.hpp"

namespace strata::test {
namespace {

constexpr std::uint32_t kSteady = 1, kCancelled = 2;

struct Event {
  enum class What { send, receive, cancel, death } what;
  Parcel* parcel = nullptr;
  Rank rank = 0;
};

std::uint64_t random_length(World& world) {
  switch (world.pick(0, world.instance().slow ? 2 : 5)) {
    case 0: return world.pick(0, 3) * 4;
    case 1: return world.pick(0, 500) * 4;
    case 2: return world.pick(0, 4096) * 4;         // up to the eager limit
    case 3: return 16'384 + world.pick(0, 20) * 4;  // just above it
    case 4: return world.pick(0, 20'000) * 4;
    default: return 131'072 - 40 + world.pick(0, 20) * 4;
  }
}

std::vector<Event> random_events(World& world, bool cancels, bool deaths) {
  std::vector<Event> events;
  for (int i = 0; i < 60; ++i) {
    const auto ranks = static_cast<std::uint64_t>(world.ranks());
    const auto from = static_cast<Rank>(world.pick(0, ranks - 1));
    const auto to = static_cast<Rank>((static_cast<std::uint64_t>(from) + world.pick(1, ranks - 1)) % ranks);
    Parcel& parcel = world.parcel(from, to, random_length(world), world.pick(0, 1) ? kSteady : kCancelled);
    parcel.priority = static_cast<std::int32_t>(world.pick(0, 2));
    parcel.misalignment = world.pick(0, 3);
    if (world.pick(0, 2) == 0) {
      parcel.kind = WireKind::recv_reduce;
      parcel.element_bytes = 4;
    }
    events.push_back({Event::What::send, &parcel, from});
    events.push_back({Event::What::receive, &parcel, to});
  }
  if (cancels) {
    for (Rank rank = 0; rank < world.ranks(); ++rank) events.push_back({Event::What::cancel, nullptr, rank});
  }
  if (deaths) events.push_back({Event::What::death, nullptr, 0});
  std::shuffle(events.begin(), events.end(), world.random());
  return events;
}

void play(World& world, const Event& event) {
  if (!world.lives(event.rank)) return;
  switch (event.what) {
    case Event::What::cancel: return world.cancel(event.rank, kCancelled);
    case Event::What::death: return world.kill(event.rank);
    default: break;
  }
  const Rank peer = event.what == Event::What::send ? event.parcel->to : event.parcel->from;
  if (world.listener(event.rank).is_dead(peer, event.parcel->tag)) return;
  event.what == Event::What::send ? world.post_send(*event.parcel) : world.post_receive(*event.parcel);
}

void play_all(World& world, const std::vector<Event>& events) {
  const std::uint64_t pace = world.pick(0, 3);
  for (const Event& event : events) {
    play(world, event);
    if (pace > 0 && world.pick(0, pace) == 0) world.steps(static_cast<int>(world.pick(1, 30)));
  }
}

TEST_CASE("random orders of posts, polls and cancels") {
  for (const int ranks : {2, 3, 4}) {
    for_each_transport(ranks, 10, [](World& world) {
      if (world.pick(0, 1) == 0) world.try_some_at_once();
      const bool cancels = world.pick(0, 2) > 0;
      play_all(world, random_events(world, cancels, false));
      REQUIRE(world.run_to_end());
      for (const Parcel& parcel : world.parcels()) {
        if (parcel.tag.communicator == kSteady || !cancels) {
          require_ok(parcel);
          continue;
        }
        for (const auto& outcome : {parcel.sent, parcel.received}) {
          if (outcome) REQUIRE((outcome->error == ErrorCode::ok || outcome->error == ErrorCode::aborted));
        }
      }
    });
  }
}

TEST_CASE("random orders with a death") {
  for (const int ranks : {2, 4}) {
    for_each_transport(ranks, 10, [](World& world) {
      if (world.pick(0, 1) == 0) world.try_some_at_once();
      play_all(world, random_events(world, true, true));
      REQUIRE(world.run_to_end());
      for (const Parcel& parcel : world.parcels()) {
        const bool concerned = parcel.from == 0 || parcel.to == 0;
        if (parcel.tag.communicator == kSteady && !concerned) require_ok(parcel);
        for (const auto& outcome : {parcel.sent, parcel.received}) {
          if (outcome) REQUIRE((outcome->error != ErrorCode::peer_lost || concerned));
          if (outcome) REQUIRE(outcome->error != ErrorCode::mismatch);
        }
      }
    });
  }
}

}  // namespace
}  // namespace strata::test
