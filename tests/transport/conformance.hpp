// Runs a law of the transport contract on every transport there is.
#pragma once
#include <catch2/catch.hpp>

#include "ccl/transport/stream/frame.hpp"
#include "tests/transport/world.hpp"

namespace strata::test {

// law(world) with a fresh world of so many ranks for each instance and seed from 1 to `seeds`.
template <class Law>
void for_each_transport(int ranks, int seeds, Law law) {
  for (const Instance& instance : instances()) {
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(seeds); ++seed) {
      INFO("transport: " << instance.name << ", ranks: " << ranks << ", seed: " << seed);
      World world(instance, ranks, seed);
      law(world);
    }
  }
}
template <class Law>
void for_each_transport(int ranks, Law law) {
  for_each_transport(ranks, 1, law);
}

inline void require_ok(const Parcel& parcel) {
  CAPTURE(parcel.tag.message, parcel.length);
  REQUIRE(parcel.sent);
  REQUIRE(parcel.received);
  REQUIRE(parcel.sent->error == ErrorCode::ok);
  REQUIRE(parcel.received->error == ErrorCode::ok);
}

}  // namespace strata::test
