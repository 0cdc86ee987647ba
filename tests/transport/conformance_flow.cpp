// Laws: no message blocks another; what is not waited for is bounded; poll and priorities keep their word.
#include <algorithm>

#include "tests/transport/conformance.hpp"

namespace strata::test {
namespace {

constexpr std::uint64_t kSmall = 2'000, kLarge = 20'000;

std::size_t many(const World& world) { return world.instance().slow ? 100 : 1000; }

TEST_CASE("a message goes through past many that nobody receives, both ways") {
  for_each_transport(2, [](World& world) {
    std::vector<Parcel*> parcels;
    for (std::size_t i = 0; i < many(world); ++i) {
      const Rank from = static_cast<Rank>(i % 2);
      parcels.push_back(&world.parcel(from, 1 - from, i % 4 < 2 ? kSmall : kLarge));
      world.post_send(*parcels.back());
      if (i % 16 == 0) world.step();
    }
    check_works(world, 0, 1, 2);
    std::shuffle(parcels.begin(), parcels.end(), world.random());
    for (Parcel* parcel : parcels) world.post_receive(*parcel);
    REQUIRE(world.run_to_end());
    for (const Parcel* parcel : parcels) require_ok(*parcel);
  });
}

TEST_CASE("a message goes through past many receives that nobody serves, both ways") {
  for_each_transport(2, [](World& world) {
    std::vector<Parcel*> parcels;
    for (std::size_t i = 0; i < many(world); ++i) {
      const Rank from = static_cast<Rank>(i % 2);
      parcels.push_back(&world.parcel(from, 1 - from, i % 4 < 2 ? kSmall : kLarge));
      world.post_receive(*parcels.back());
    }
    check_works(world, 0, 1, 2);
    std::shuffle(parcels.begin(), parcels.end(), world.random());
    for (Parcel* parcel : parcels) world.post_send(*parcel);
    REQUIRE(world.run_to_end());
    for (const Parcel* parcel : parcels) require_ok(*parcel);
  });
}

TEST_CASE("what nobody has asked for is held within the window, both ways at once") {
  for_each_transport(2, [](World& world) {
    const std::uint64_t length = std::max<std::uint64_t>(world.instance().eager_bytes_max, 100);
    const std::size_t count = 3 * world.instance().eager_window_bytes / length + 10;
    std::vector<Parcel*> parcels;
    for (std::size_t i = 0; i < 2 * count; ++i) {
      const Rank from = static_cast<Rank>(i % 2);
      parcels.push_back(&world.parcel(from, 1 - from, length - i % 3));
      world.post_send(*parcels.back());
    }
    world.steps(static_cast<int>(3 * world.instance().eager_window_bytes / 48 + 100));
    std::uint64_t taken[2] = {};
    for (const Parcel* parcel : parcels) {
      if (parcel->sent) taken[parcel->from] += parcel->length;
    }
    CHECK(taken[0] <= world.instance().eager_window_bytes);
    CHECK(taken[1] <= world.instance().eager_window_bytes);
    check_works(world, 0, 1, 2);
    std::reverse(parcels.begin(), parcels.end());
    for (Parcel* parcel : parcels) world.post_receive(*parcel);
    REQUIRE(world.run_to_end());
    for (const Parcel* parcel : parcels) require_ok(*parcel);
    check_works(world, 1, 0, 3);
  });
}

TEST_CASE("each poll writes no more completions than it has room for, and none is lost") {
  for_each_transport(2, [](World& world) {  // World polls with room for 1 to 64
    for (int i = 0; i < 500; ++i) world.post_both(world.parcel(0, 1, 8));
    REQUIRE(world.run_to_end());
    for (const Parcel& parcel : world.parcels()) require_ok(parcel);
    std::array<Completion, 1> one;
    CHECK(world.at(0).poll(one) == 0);
    CHECK(world.at(1).poll({}) == 0);
  });
}

TEST_CASE("a higher priority overtakes, equal ones keep their order") {
  for_each_transport(2, [](World& world) {
    if (!world.instance().keeps_order || world.instance().moves_at_post) return;
    std::vector<Parcel*> low;
    for (int i = 0; i < 3; ++i) {
      low.push_back(&world.parcel(0, 1, world.instance().flood_bytes));
      world.post_both(*low.back());
    }
    world.steps(3);
    Parcel& high = world.parcel(0, 1, world.instance().flood_bytes);  // more than one fragment
    high.priority = 1;
    world.post_both(high);
    Parcel& small = world.parcel(0, 1, 100);
    small.priority = 2;
    world.post_both(small);
    REQUIRE(world.run([&] { return small.arrived(); }));
    CHECK_FALSE(high.arrived());
    REQUIRE(world.run([&] { return high.arrived(); }));
    CHECK_FALSE(low[0]->arrived());
    for (std::size_t i = 0; i < low.size(); ++i) {
      REQUIRE(world.run([&] { return low[i]->arrived(); }));
      for (std::size_t later = i + 1; later < low.size(); ++later) CHECK_FALSE(low[later]->arrived());
    }
    REQUIRE(world.run_to_end());
  });
}

TEST_CASE("the listener is told of what is not expected, with its peer, tag and fingerprint") {
  for_each_transport(2, [](World& world) {
    for (const std::uint64_t length : {0, 100, 100'000}) {
      auto& told = world.listener(1).told;
      told.clear();
      Parcel& parcel = world.parcel(0, 1, length);
      parcel.fingerprint.collective = 3;
      parcel.receive_fingerprint = parcel.fingerprint;
      world.post_send(parcel);
      REQUIRE(world.run([&] { return !told.empty(); }));
      world.steps(50);
      REQUIRE(told.size() == 1);
      CHECK(told[0].peer == 0);
      CHECK(told[0].tag == parcel.tag);
      CHECK(told[0].theirs == parcel.fingerprint);
      world.post_receive(parcel);
      REQUIRE(world.run_to_end());
      require_ok(parcel);
      REQUIRE(told.size() == 1);
    }
  });
}

TEST_CASE("what the listener discards is forgotten and holds nothing up") {
  for_each_transport(2, [](World& world) {
    constexpr std::uint32_t kDead = 9;
    world.listener(1).dead.push_back({kDead});
    const auto count = 2 * world.instance().eager_window_bytes / 16'384 + 20;
    for (std::size_t i = 0; i < count; ++i)
      world.post_send(world.parcel(0, 1, i % 2 ? 16'384 : 16'385, kDead));
    check_works(world, 0, 1, 2);
    world.cancel(0, kDead);
    REQUIRE(world.run_to_end());
    for (const Parcel& parcel : world.parcels()) {
      if (parcel.tag.communicator != kDead) continue;
      CHECK((parcel.sent->error == ErrorCode::ok || parcel.sent->error == ErrorCode::aborted));
    }
  });
}

}  // namespace
}  // namespace strata::test
