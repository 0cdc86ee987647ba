// Laws: each op completes exactly once, also after cancel or death, and these touch nothing else.
#include <algorithm>

#include "tests/transport/conformance.hpp"

namespace strata::test {
namespace {

enum class Side { sender, receiver, both };

struct CancelCase {
  std::uint64_t length;
  WireKind kind;
  Side side;
  bool send_first;
};

std::vector<CancelCase> cancel_cases() {
  std::vector<CancelCase> cases;
  for (const std::uint64_t length : {0, 100, 16'384, 16'388, 300'000})
    for (const WireKind kind : {WireKind::recv, WireKind::recv_reduce})
      for (const Side side : {Side::sender, Side::receiver, Side::both})
        for (const bool send_first : {true, false}) cases.push_back({length, kind, side, send_first});
  return cases;
}

// Posts a message, lets `stage` steps pass between and after the posts, and cancels. Returns whether the
// message had ended by then.
bool cancel_at(World& world, const CancelCase& c, int stage, std::uint32_t communicator) {
  Parcel& parcel = world.parcel(0, 1, c.length, communicator);
  parcel.kind = c.kind;
  parcel.element_bytes = 4;
  c.send_first ? world.post_send(parcel) : world.post_receive(parcel);
  world.steps(stage % 4);
  c.send_first ? world.post_receive(parcel) : world.post_send(parcel);
  world.steps(stage);
  const bool ended = parcel.ended();
  if (c.side != Side::receiver) world.cancel(0, communicator);
  if (c.side != Side::sender) world.cancel(1, communicator);
  // The side that cancelled must complete, whatever the other does.
  REQUIRE(world.run([&] {
    return (c.side == Side::receiver || parcel.sent) && (c.side == Side::sender || parcel.received);
  }));
  world.steps(3);  // something of the other side's may still be on its way
  world.cancel(0, communicator);
  world.cancel(1, communicator);
  REQUIRE(world.run_to_end());
  for (const auto& outcome : {parcel.sent, parcel.received}) {
    REQUIRE((outcome->error == ErrorCode::ok || outcome->error == ErrorCode::aborted));
  }
  return ended;
}

TEST_CASE("cancel at every stage ends each op once and leaves the others alone") {
  for_each_transport(2, [](World& world) {
    std::uint32_t communicator = 100;
    for (const CancelCase& c : cancel_cases()) {
      for (int stage = 0;; stage += 1 + stage / 3) {
        CAPTURE(c.length, static_cast<int>(c.kind), static_cast<int>(c.side), c.send_first, stage);
        if (cancel_at(world, c, stage, communicator++)) break;
      }
    }
    check_works(world, 0, 1, 2);
  });
}

// Of the messages of a communicator, some of each operation and with each peer, posted at both ends, at one,
// or known only to the other.
TEST_CASE("cancel of an operation, or of one with a peer, leaves the others alone") {
  constexpr std::uint64_t kCancelled = 500, kOther = 501;
  for_each_transport(3, [](World& world) {
    const Rank peer = world.pick(0, 1) == 0 ? kNoRank : 1;
    std::vector<Parcel*> cancelled, others;
    for (int i = 0; i < 40; ++i) {
      const auto to = static_cast<Rank>(world.pick(1, 2));
      Parcel& parcel = world.parcel(0, to, world.pick(0, 1) == 0 ? 500 : 70'000);
      parcel.tag.operation = world.pick(0, 1) == 0 ? kCancelled : kOther;
      const bool hit = parcel.tag.operation == kCancelled && (peer == kNoRank || to == peer);
      (hit ? cancelled : others).push_back(&parcel);
      if (world.pick(0, 2) > 0) world.post_send(parcel);
      world.steps(static_cast<int>(world.pick(0, 3)));
      if (world.pick(0, 2) > 0) world.post_receive(parcel);
    }
    world.steps(static_cast<int>(world.pick(0, 20)));
    world.cancel(0, {1, kCancelled, peer});
    for (const Rank rank : {1, 2})
      if (peer == kNoRank || peer == rank) world.cancel(rank, {1, kCancelled, 0});
    for (Parcel* parcel : others) {
      if (!parcel->send_posted) world.post_send(*parcel);
      if (!parcel->receive_posted) world.post_receive(*parcel);
    }
    REQUIRE(world.run_to_end());
    for (const Parcel* parcel : others) require_ok(*parcel);
    for (const Parcel* parcel : cancelled)
      for (const auto& outcome : {parcel->sent, parcel->received})
        if (outcome) REQUIRE((outcome->error == ErrorCode::ok || outcome->error == ErrorCode::aborted));
    check_works(world, 0, 1, 2);
  });
}

TEST_CASE("cancel while the stash is full gives the credit back") {
  for_each_transport(2, [](World& world) {
    for (std::uint32_t communicator = 10; communicator < 14; ++communicator) {
      const auto count = 2 * world.instance().eager_window_bytes / 16'384 + 10;
      for (std::size_t i = 0; i < count; ++i) world.post_send(world.parcel(0, 1, 16'384, communicator));
      world.steps(static_cast<int>(world.pick(1, 3000)));
      for (const Rank rank : {0, 1}) world.cancel(rank, communicator);
      REQUIRE(world.run_to_end());
    }
    world.steps(30'000);  // what was on its way is drained
    // Half of the window is free again, at least; the rest need not have been given back yet.
    const auto fill = world.instance().eager_window_bytes / 2 / (16'384 + 512);
    std::vector<Parcel*> eager;
    for (std::size_t i = 0; i < fill; ++i) {
      eager.push_back(&world.parcel(0, 1, 16'384));
      world.post_send(*eager.back());
    }
    REQUIRE(
        world.run([&] { return std::all_of(eager.begin(), eager.end(), [](auto* p) { return p->sent; }); }));
    for (Parcel* parcel : eager) world.post_receive(*parcel);
    REQUIRE(world.run_to_end());
  });
}

void post_all_pairs(World& world, std::uint64_t length, std::vector<Parcel*>& parcels) {
  for (Rank from = 0; from < world.ranks(); ++from) {
    for (Rank to = 0; to < world.ranks(); ++to) {
      if (from == to) continue;
      parcels.push_back(&world.parcel(from, to, length));
      if (world.lives(from)) world.post_send(*parcels.back());
      if (world.lives(to)) world.post_receive(*parcels.back());
    }
  }
}

void check_after_death(World& world, const std::vector<Parcel*>& parcels, Rank dead) {
  for (const Parcel* parcel : parcels) {
    const bool concerned = parcel->from == dead || parcel->to == dead;
    for (const auto& outcome : {parcel->sent, parcel->received}) {
      if (!outcome) continue;
      CHECK((outcome->error == ErrorCode::ok || (concerned && outcome->error == ErrorCode::peer_lost)));
    }
    if (!concerned) require_ok(*parcel);
  }
  for (Rank rank = 0; rank < world.ranks(); ++rank) {
    if (rank == dead) continue;
    const Status status = world.at(rank).peer_status(dead);
    CHECK(status.code() == ErrorCode::peer_lost);
    CHECK_FALSE(status.message().empty());
  }
}

TEST_CASE("a death at any stage fails what was posted to the dead rank, and nothing else") {
  for (const int stage : {0, 1, 2, 3, 5, 8, 13, 30, 60, 1000}) {
    for_each_transport(3, [stage](World& world) {
      CAPTURE(stage);
      std::vector<Parcel*> parcels;
      for (const std::uint64_t length : {0, 100, 16'384, 300'000}) post_all_pairs(world, length, parcels);
      Parcel& early = world.parcel(1, 0, 100'000);  // never received
      world.post_send(early);
      parcels.push_back(&early);
      world.steps(stage);
      world.kill(0);
      REQUIRE(world.run_to_end());
      CHECK(early.sent->error == ErrorCode::peer_lost);
      check_after_death(world, parcels, 0);
      parcels.clear();
      for (const std::uint64_t length : {0, 100, 300'000}) post_all_pairs(world, length, parcels);
      REQUIRE(world.run_to_end());
      check_after_death(world, parcels, 0);
      for (const Parcel* parcel : parcels) {
        if (parcel->from == 0) CHECK(parcel->received->error == ErrorCode::peer_lost);
        if (parcel->to == 0) CHECK(parcel->sent->error == ErrorCode::peer_lost);
      }
    });
  }
}

// Ranks end at different times: the last thing one does is often to send, and it need not wait for the
// others.
TEST_CASE("what was sent before the sender left arrives, also if it is received only then") {
  for_each_transport(2, 3, [](World& world) {
    std::vector<Parcel*> parcels;
    for (const std::uint64_t length : {0, 1, 300, 16'000}) {
      parcels.push_back(&world.parcel(0, 1, length));
      world.post_send(*parcels.back());
    }
    world.steps(3000);
    const bool all_sent =
        std::all_of(parcels.begin(), parcels.end(), [](const Parcel* p) { return p->sent; });
    if (world.instance().eager_bytes_max > 0) REQUIRE(all_sent);
    if (!all_sent) return;
    if (world.pick(0, 1)) world.kill(0);
    world.post_receive(*parcels[0]);
    if (world.pick(0, 1)) world.steps(100);
    world.kill(0);
    world.steps(static_cast<int>(world.pick(0, 100)));
    for (std::size_t i = 1; i < parcels.size(); ++i) world.post_receive(*parcels[i]);
    REQUIRE(world.run_to_end());
    for (const Parcel* parcel : parcels) require_ok(*parcel);
  });
}

struct MismatchCase {
  std::uint64_t send_length, receive_length;
  bool send_first;
  int steps_between;
  bool no_credit;
};

std::vector<MismatchCase> mismatch_cases() {
  std::vector<MismatchCase> cases;
  for (const std::uint64_t send_length : {0, 100, 16'384, 20'000, 300'000})
    for (const std::uint64_t receive_length : {0, 100, 16'384, 20'000, 300'000})
      for (const bool send_first : {true, false})
        for (const int steps_between : {0, 1, 2, 60})
          for (const bool no_credit : {true, false})
            cases.push_back({send_length, receive_length, send_first, steps_between, no_credit});
  return cases;
}

void check_mismatch(World& world, const MismatchCase& c) {
  Parcel& parcel = world.parcel(0, 1, c.send_length);
  parcel.receive_length = c.receive_length;
  parcel.kind = c.receive_length % 3 == 0 ? WireKind::recv_reduce : WireKind::recv;
  parcel.receive_fingerprint.op = 5;  // equal lengths mismatch too
  c.send_first ? world.post_send(parcel) : world.post_receive(parcel);
  world.steps(c.steps_between);
  c.send_first ? world.post_receive(parcel) : world.post_send(parcel);
  REQUIRE(world.run([&] { return parcel.ended(); }));
  REQUIRE(parcel.received->error == ErrorCode::mismatch);
  CHECK(parcel.received->theirs == parcel.fingerprint);
  CHECK(parcel.received->their_length == parcel.length);
  if (parcel.sent->error == ErrorCode::ok) {  // it had gone before anyone could know
    CHECK(parcel.length <= world.instance().eager_bytes_max);
    return;
  }
  REQUIRE(parcel.sent->error == ErrorCode::mismatch);
  CHECK(parcel.sent->theirs == parcel.receive_fingerprint);
  CHECK(parcel.sent->their_length == parcel.receive_length);
}

TEST_CASE("a mismatch is an error that names the other side, whatever the lengths and the order") {
  for_each_transport(2, [](World& world) {
    for (const bool no_credit : {false, true}) {
      std::vector<Parcel*> fillers;
      const auto count = no_credit ? world.instance().eager_window_bytes / 16'384 : 0;
      for (std::size_t i = 0; i < count; ++i) {
        fillers.push_back(&world.parcel(0, 1, 16'384));
        world.post_send(*fillers.back());
      }
      world.steps(static_cast<int>(count * 16'384 / 48 + 10));
      for (const MismatchCase& c : mismatch_cases()) {
        if (c.no_credit != no_credit) continue;
        CAPTURE(c.send_length, c.receive_length, c.send_first, c.steps_between, c.no_credit);
        check_mismatch(world, c);
      }
      for (Parcel* filler : fillers) world.post_receive(*filler);
      REQUIRE(world.run_to_end());
      for (const Parcel* filler : fillers) require_ok(*filler);
      check_works(world, 0, 1, 2 + no_credit);
    }
  });
}

}  // namespace
}  // namespace strata::test
