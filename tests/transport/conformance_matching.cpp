// Laws: a message is matched by (peer, tag), whatever comes first, of any length, into any memory.
#include <algorithm>
#include <array>

#include "tests/transport/conformance.hpp"

namespace strata::test {
namespace {

using stream::kEagerBytesMax;
using stream::kFragmentBytesMax;
using stream::kFrameBytes;

// Posts the sends and the receives in the given orders, the two interleaved and with polls between by chance.
void post_interleaved(World& world, const std::vector<Parcel*>& sends, const std::vector<Parcel*>& receives) {
  auto send = sends.begin();
  auto receive = receives.begin();
  const std::uint64_t style = world.pick(0, 3);  // 0: sends first, 1: receives first, else mixed
  while (send != sends.end() || receive != receives.end()) {
    const bool may_send = send != sends.end() && (receive == receives.end() || style != 1);
    const bool may_receive = receive != receives.end() && (send == sends.end() || style != 0);
    if (may_send && (!may_receive || world.pick(0, 1) == 0)) {
      world.post_send(**send++);
    } else {
      world.post_receive(**receive++);
    }
    if (world.pick(0, 2) == 0) world.steps(static_cast<int>(world.pick(1, 20)));
  }
}

TEST_CASE("messages meet by tag in every order of posts") {
  for_each_transport(2, [](World& world) {
    std::array<std::size_t, 4> send_order{0, 1, 2, 3};
    do {
      std::array<std::size_t, 4> receive_order{0, 1, 2, 3};
      do {
        std::vector<Parcel*> parcels;
        for (const std::uint64_t length : {0, 100, 16'384, 16'385})
          parcels.push_back(&world.parcel(0, 1, length));
        std::vector<Parcel*> sends, receives;
        for (const std::size_t i : send_order) sends.push_back(parcels[i]);
        for (const std::size_t i : receive_order) receives.push_back(parcels[i]);
        post_interleaved(world, sends, receives);
        REQUIRE(world.run_to_end());
        for (const Parcel* parcel : parcels) require_ok(*parcel);
      } while (std::next_permutation(receive_order.begin(), receive_order.end()));
    } while (std::next_permutation(send_order.begin(), send_order.end()));
  });
}

TEST_CASE("the same tag names one message in each direction and for each peer") {
  for_each_transport(3, 3, [](World& world) {
    for (const std::uint64_t length : {10, 50'000}) {
      const Tag tag{.operation = length, .communicator = 3, .message = 7};
      std::vector<Parcel*> parcels;
      for (Rank from = 0; from < 3; ++from) {
        for (Rank to = 0; to < 3; ++to) {
          if (from == to) continue;
          parcels.push_back(&world.parcel(from, to, length));
          parcels.back()->tag = tag;
        }
      }
      auto receives = parcels;
      std::shuffle(receives.begin(), receives.end(), world.random());
      post_interleaved(world, parcels, receives);
      REQUIRE(world.run_to_end());
      for (const Parcel* parcel : parcels) require_ok(*parcel);
    }
  });
}

// Pipes cut messages at the one or at the other.
constexpr std::uint64_t kFragmentBytes = 128 << 10;

std::vector<std::uint64_t> lengths_at_limits() {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t limit :
       {std::uint64_t{1}, std::uint64_t{kFrameBytes}, stream::kStashBlockBytes, std::uint64_t{4096},
        std::uint64_t{5000}, kEagerBytesMax, kFragmentBytes, 2 * kFragmentBytes}) {
    for (const int delta : {-1, 0, 1}) lengths.push_back(limit + static_cast<std::uint64_t>(delta));
  }
  lengths.push_back(3 * kFragmentBytes + 4097);
  lengths.push_back(kFragmentBytesMax + 4097);
  return lengths;
}

TEST_CASE("messages of any length arrive whole, in any memory") {
  for_each_transport(2, [](World& world) {
    for (const std::uint64_t length : lengths_at_limits()) {
      for (const std::size_t misalignment : {0, 1, 7}) {
        Parcel& parcel = world.parcel(0, 1, length);
        parcel.misalignment = misalignment;
        post_interleaved(world, {&parcel}, {&parcel});
      }
    }
    REQUIRE(world.run_to_end());
    for (const Parcel& parcel : world.parcels()) require_ok(parcel);
  });
}

TEST_CASE("recv_reduce combines whole elements, however the bytes come") {
  for_each_transport(2, [](World& world) {
    for (const std::uint64_t length : lengths_at_limits()) {
      for (const std::uint8_t element : {1, 2, 4, 8, 16}) {
        Parcel& parcel = world.parcel(0, 1, length / element * element);
        parcel.kind = WireKind::recv_reduce;
        parcel.element_bytes = element;
        parcel.misalignment = world.pick(0, 9);
        parcel.in_place = world.pick(0, 1) == 0;
        post_interleaved(world, {&parcel}, {&parcel});
      }
    }
    REQUIRE(world.run_to_end());
    for (const Parcel& parcel : world.parcels()) require_ok(parcel);
  });
}

}  // namespace
}  // namespace strata::test
