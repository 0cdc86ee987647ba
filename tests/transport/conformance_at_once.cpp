// Laws of try_at_once(): done whole and right, or not at all.
#include <algorithm>

#include "tests/transport/conformance.hpp"

namespace strata::test {
namespace {

std::uint64_t at_once_bytes_max(World& world) { return world.at(0).capabilities().at_once_bytes_max; }

std::vector<std::uint64_t> lengths(World& world) {
  const std::uint64_t most = at_once_bytes_max(world);
  std::vector<std::uint64_t> all;
  for (const std::uint64_t length : {0, 1, 8, 16, 17, 63, 64, 100, 256, 1000, 5000, 16'384})
    if (most > 0 && length <= most) all.push_back(length);
  return all;
}

WireOp op_of(const Parcel& parcel, WireKind kind, std::vector<std::byte>& memory) {
  WireOp op;
  op.kind = kind;
  op.peer = kind == WireKind::send ? parcel.to : parcel.from;
  op.tag = parcel.tag;
  op.fingerprint = parcel.fingerprint;
  op.data = memory.data();
  op.length = memory.size();
  return op;
}

TEST_CASE("nothing in their way, small messages go and come at once") {
  for_each_transport(2, 3, [](World& world) {
    for (int round = 0; round < 40; ++round) {
      for (const std::uint64_t length : lengths(world)) {
        Parcel& parcel = world.parcel(round % 2, 1 - round % 2, length);
        std::vector<std::byte> out(length), in(length);
        for (auto& byte : out) byte = static_cast<std::byte>(world.random()());
        REQUIRE(world.run([&] {  // credit may have to come back first
          world.step();
          return world.at(parcel.from).try_at_once(op_of(parcel, WireKind::send, out));
        }));
        const std::vector<std::byte> sent = out;
        std::fill(out.begin(), out.end(), std::byte{0xee});
        const bool polls = world.pick(0, 1) == 0;  // the message may have been put aside already
        REQUIRE(world.run([&] {
          if (polls) world.poll(parcel.to);
          return world.at(parcel.to).try_at_once(op_of(parcel, WireKind::recv, in));
        }));
        REQUIRE((in == sent));
      }
    }
    check_works(world, 0, 1, 2);
  });
}

TEST_CASE("ops that are tried at once and ops that are posted meet each other") {
  for_each_transport(3, 5, [](World& world) {
    world.try_some_at_once();
    std::vector<Parcel*> parcels, receives;
    for (int i = 0; i < 200; ++i) {
      Parcel& parcel = world.parcel(i % 3, (i + 1) % 3, world.pick(0, 300) * 4);
      if (i % 4 == 0) {
        parcel.kind = WireKind::recv_reduce;
        parcel.element_bytes = 4;
      }
      parcels.push_back(&parcel);
    }
    receives = parcels;
    std::shuffle(receives.begin(), receives.end(), world.random());
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      world.post_send(*parcels[i]);
      world.post_receive(*receives[i]);
      if (world.pick(0, 2) == 0) world.steps(static_cast<int>(world.pick(1, 20)));
    }
    REQUIRE(world.run_to_end());
    for (const Parcel* parcel : parcels) require_ok(*parcel);
    if (at_once_bytes_max(world) > 0) CHECK(world.done_at_once() > 0);
  });
}

TEST_CASE("a receive of another call or length is never done at once") {
  for_each_transport(2, [](World& world) {
    for (const bool other_length : {false, true}) {
      Parcel& parcel = world.parcel(0, 1, 64);
      if (other_length)
        parcel.receive_length = 32;
      else
        parcel.receive_fingerprint.op = 3;
      world.post_send(parcel);
      std::vector<std::byte> memory(parcel.receive_length);
      WireOp op = op_of(parcel, WireKind::recv, memory);
      op.fingerprint = parcel.receive_fingerprint;
      for (int i = 0; i < 1000; ++i) {
        REQUIRE_FALSE(world.at(1).try_at_once(op));
        world.poll(0);
      }
      world.post_receive(parcel);
      REQUIRE(world.run_to_end());
      CHECK(parcel.received->error == ErrorCode::mismatch);
    }
    check_works(world, 0, 1, 2);
  });
}

TEST_CASE("what is longer than a transport does at once is refused, and so is what goes to the dead") {
  for_each_transport(3, [](World& world) {
    std::vector<std::byte> memory(at_once_bytes_max(world) + 1);
    REQUIRE_FALSE(world.at(0).try_at_once(op_of(world.parcel(0, 1, memory.size()), WireKind::send, memory)));
    world.kill(2);
    REQUIRE(world.run([&] { return !world.at(0).peer_status(2).ok(); }));
    memory.resize(1);
    for (const WireKind kind : {WireKind::send, WireKind::recv}) {
      const Parcel& parcel = kind == WireKind::send ? world.parcel(0, 2, 1) : world.parcel(2, 0, 1);
      REQUIRE_FALSE(world.at(0).try_at_once(op_of(parcel, kind, memory)));
    }
    check_works(world, 0, 1, 2);
  });
}

}  // namespace
}  // namespace strata::test
