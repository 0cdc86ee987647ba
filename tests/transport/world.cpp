// Every completion is checked as it comes: known, the first for its op, and the right bytes if it says ok.
#include "tests/transport/world.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

namespace strata::test {
namespace {

constexpr std::size_t kGuardBytes = 16;
constexpr std::byte kGuard{0xa5};
constexpr auto kTooLong = std::chrono::seconds(60);  // a bound for failure, not a wait

std::byte pattern(std::uint64_t id, std::uint64_t i) {
  return static_cast<std::byte>((i * 131 + (i >> 8) * 29 + id * 17 + 7) >> 1);
}

std::vector<std::byte> memory(std::size_t misalignment, std::uint64_t length) {
  return std::vector<std::byte>(kGuardBytes + misalignment + length + kGuardBytes, kGuard);
}
std::byte* payload(std::vector<std::byte>& memory, std::size_t misalignment) {
  return memory.data() + kGuardBytes + misalignment;
}

// Elements are little-endian integers of E bytes and are added, so a byte that lands in a wrong element
// shows.
void add(std::size_t element_bytes, std::byte* into, const std::byte* a, const std::byte* b) {
  unsigned carry = 0;
  for (std::size_t i = 0; i < element_bytes; ++i) {
    carry += std::to_integer<unsigned>(a[i]) + std::to_integer<unsigned>(b[i]);
    into[i] = static_cast<std::byte>(carry);
    carry >>= 8;
  }
}
template <std::size_t E>
void add_all(void* into, const void* a, const void* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    add(E, static_cast<std::byte*>(into) + i * E, static_cast<const std::byte*>(a) + i * E,
        static_cast<const std::byte*>(b) + i * E);
  }
}
WireReduce adder(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1: return add_all<1>;
    case 2: return add_all<2>;
    case 4: return add_all<4>;
    case 8: return add_all<8>;
    case 16: return add_all<16>;
  }
  FAIL("no adder for " << element_bytes);
  return nullptr;
}

// Overwritten first: a transport that still reads it sends what no check takes for right.
void release(std::vector<std::byte>& memory) {
  std::fill(memory.begin(), memory.end(), std::byte{0xee});
  std::vector<std::byte>().swap(memory);
}

}  // namespace

Listener::Verdict TestListener::unexpected(Rank peer, const Tag& tag, const Fingerprint& theirs) {
  told.push_back({peer, tag, theirs});
  return is_dead(peer, tag) ? Verdict::discard : Verdict::keep;
}

bool TestListener::is_dead(Rank peer, const Tag& tag) const {
  return std::any_of(dead.begin(), dead.end(), [&](const auto& scope) { return scope.covers(peer, tag); });
}

World::World(const Instance& instance, int ranks, std::uint64_t seed)
    : instance_(instance), random_(seed), listeners_(static_cast<std::size_t>(ranks)) {
  std::vector<Listener*> pointers;
  for (TestListener& listener : listeners_) pointers.push_back(&listener);
  ends_ = instance.make(pointers, seed);
  REQUIRE(ends_.size() == static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) order_.push_back(rank);
}

Parcel& World::parcel(Rank from, Rank to, std::uint64_t length, std::uint32_t communicator) {
  Parcel& parcel = parcels_.emplace_back();
  parcel.id = parcels_.size();
  parcel.from = from;
  parcel.to = to;
  parcel.tag = {.operation = parcels_.size() / 7,
                .communicator = communicator,
                .message = static_cast<std::uint32_t>(parcels_.size())};
  parcel.length = parcel.receive_length = length;
  parcel.fingerprint.count = length;
  parcel.fingerprint.root = from;
  parcel.receive_fingerprint = parcel.fingerprint;
  return parcel;
}

void World::post_send(Parcel& parcel) {
  const std::uint64_t id = parcel.id;
  parcel.source = memory(parcel.misalignment, parcel.length);
  std::byte* bytes = payload(parcel.source, parcel.misalignment);
  for (std::uint64_t i = 0; i < parcel.length; ++i) bytes[i] = pattern(id, i);
  parcel.send_posted = true;
  ++pending_;
  WireOp op;
  op.kind = WireKind::send;
  op.priority = parcel.priority;
  op.peer = parcel.to;
  op.tag = parcel.tag;
  op.fingerprint = parcel.fingerprint;
  op.data = parcel.length > 0 ? bytes : nullptr;
  op.length = parcel.length;
  op.cookie = id * 2;
  give(parcel.from, op);
}

void World::post_receive(Parcel& parcel) {
  const std::uint64_t id = parcel.id;
  parcel.target = memory(parcel.misalignment, parcel.receive_length);
  parcel.receive_posted = true;
  ++pending_;
  WireOp op;
  op.kind = parcel.kind;
  op.peer = parcel.from;
  op.tag = parcel.tag;
  op.fingerprint = parcel.receive_fingerprint;
  op.data = parcel.receive_length > 0 ? payload(parcel.target, parcel.misalignment) : nullptr;
  op.length = parcel.receive_length;
  op.cookie = id * 2 + 1;
  if (parcel.kind == WireKind::recv_reduce) {
    auto& addend = parcel.in_place ? parcel.target : parcel.addend;
    if (!parcel.in_place) addend = memory(parcel.misalignment, parcel.receive_length);
    std::byte* bytes = payload(addend, parcel.misalignment);
    for (std::uint64_t i = 0; i < parcel.receive_length; ++i) bytes[i] = pattern(id + 1, i);
    op.addend = bytes;
    op.element_bytes = parcel.element_bytes;
    op.reduce = adder(parcel.element_bytes);
  }
  give(parcel.to, op);
}

void World::give(Rank rank, const WireOp& op) {
  if (!tries_at_once_ || pick(0, 1) == 0 || !at(rank).try_at_once(op)) return at(rank).post(op);
  ++done_at_once_;
  end(rank, {.cookie = op.cookie, .error = ErrorCode::ok, .theirs = {}, .their_length = 0});
}

void World::step() {
  std::shuffle(order_.begin(), order_.end(), random_);
  for (const Rank rank : order_) poll(rank);
}

void World::poll(Rank rank) {
  if (!lives(rank)) return;
  std::array<Completion, kCompletionsPerPollMax> completions;
  const auto room = static_cast<std::size_t>(pick(1, kCompletionsPerPollMax));
  const std::size_t count = at(rank).poll(std::span(completions).first(room));
  if (count > room)
    FAIL(count << " completions in room for " << room);  // cheaper than REQUIRE, millions of times
  for (const Completion& completion : std::span(completions).first(count)) end(rank, completion);
}

void World::end(Rank rank, const Completion& completion) {
  const std::uint64_t id = completion.cookie / 2;
  REQUIRE((id >= 1 && id <= parcels_.size()));
  Parcel& parcel = parcels_[id - 1];
  const bool receives = completion.cookie % 2 == 1;
  CAPTURE(rank, id, receives, static_cast<int>(completion.error));
  REQUIRE(rank == (receives ? parcel.to : parcel.from));
  REQUIRE((receives ? parcel.receive_posted : parcel.send_posted));
  std::optional<Completion>& outcome = receives ? parcel.received : parcel.sent;
  REQUIRE_FALSE(outcome.has_value());
  outcome = completion;
  --pending_;
  last_end_ = Clock::now();
  if (!receives) return release(parcel.source);
  if (completion.error == ErrorCode::ok) check_received(parcel, id);
  release(parcel.target);
  release(parcel.addend);
}

void World::check_received(const Parcel& parcel, std::uint64_t id) {
  std::vector<std::byte> expected = memory(parcel.misalignment, parcel.length);
  std::byte* bytes = payload(expected, parcel.misalignment);
  std::vector<std::byte> addend(parcel.length);
  for (std::uint64_t i = 0; i < parcel.length; ++i) {
    bytes[i] = pattern(id, i);
    addend[i] = pattern(id + 1, i);
  }
  if (parcel.kind == WireKind::recv_reduce) {
    adder(parcel.element_bytes)(bytes, addend.data(), bytes, parcel.length / parcel.element_bytes);
  }
  REQUIRE(parcel.send_posted);
  REQUIRE(parcel.length == parcel.receive_length);
  REQUIRE((expected == parcel.target));
}

// The clock is for failing only, and rarely looked at.
bool World::step_before_deadline() {
  step();
  if (++steps_ % 1024 != 0) return true;
  std::this_thread::yield();
  return Clock::now() - last_end_ < kTooLong;
}

void World::cancel(Rank rank, const CancelScope& scope) {
  listener(rank).dead.push_back(scope);
  at(rank).cancel(scope);
}

void World::kill(Rank rank) {
  ends_[static_cast<std::size_t>(rank)].reset();
  pending_ = 0;
  for (const Parcel& parcel : parcels_) {
    pending_ += parcel.send_posted && !parcel.sent && lives(parcel.from);
    pending_ += parcel.receive_posted && !parcel.received && lives(parcel.to);
  }
}

void check_works(World& world, Rank a, Rank b, std::uint32_t communicator) {
  std::vector<Parcel*> parcels;
  for (const std::uint64_t length : {0, 1, 5000, 100'000}) {
    for (const bool forth : {true, false}) {
      parcels.push_back(&world.parcel(forth ? a : b, forth ? b : a, length, communicator));
      world.post_both(*parcels.back());
    }
  }
  for (const Parcel* parcel : parcels) {
    REQUIRE(world.run([&] { return parcel->arrived() && parcel->sent; }));
    REQUIRE(parcel->sent->error == ErrorCode::ok);
  }
}

}  // namespace strata::test
