// Kernels touch the bytes they are given and no others: any count, alignment and permitted aliasing.
#include "tests/compute/cases.hpp"

#include <cstdint>
#include <vector>

namespace strata::test {
namespace {

constexpr std::size_t kGuardBytes = 80;
constexpr std::byte kGuard{0xa5};

// Elements at an offset from a 64-byte boundary, between guards.
class Guarded {
 public:
  Guarded(const Bytes& content, std::size_t misalignment)
      : memory_(content.size() + 2 * kGuardBytes + 128, kGuard), size_(content.size()) {
    const std::size_t past_boundary = reinterpret_cast<std::uintptr_t>(memory_.data()) % 64;
    begin_ = kGuardBytes + (64 - past_boundary) % 64 + misalignment;
    if (size_ != 0) std::memcpy(data(), content.data(), size_);
  }
  std::byte* data() { return memory_.data() + begin_; }
  Bytes content() { return {data(), data() + size_}; }
  bool guards_intact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < begin_ || i >= begin_ + size_) && memory_[i] != kGuard) return false;
    return true;
  }

 private:
  Bytes memory_;
  std::size_t size_, begin_ = 0;
};

std::vector<std::size_t> counts() {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n <= 70; ++n) all.push_back(n);
  all.insert(all.end(), {127, 255, 257, 511, 513, 1023, 4099});
  return all;
}

void check_two(DataType type, ReduceOp op, const Bytes& a, const Bytes& b, const Bytes& wanted,
               std::size_t shift) {
  const std::size_t count = a.size() / size_of(type);
  const ReduceKernel kernel = reduce_kernel(type, op);
  {
    Guarded into(Bytes(a.size()), shift), left(a, shift * 3 % 64), right(b, shift * 7 % 64);
    kernel(into.data(), left.data(), right.data(), count);
    CHECK(first_difference(type, into.content(), wanted) == -1);
    CHECK((into.guards_intact() && left.guards_intact() && right.guards_intact()));
    CHECK((left.content() == a && right.content() == b));
  }
  Guarded left(a, shift), right(b, shift * 5 % 64);
  kernel(left.data(), left.data(), right.data(), count);
  CHECK(first_difference(type, left.content(), wanted) == -1);
  Guarded again(a, shift), into(b, shift * 5 % 64);
  kernel(into.data(), again.data(), into.data(), count);
  CHECK(first_difference(type, into.content(), wanted) == -1);
  CHECK((left.guards_intact() && right.guards_intact() && into.guards_intact()));
}

// In place of the first, in place of another, and apart.
void check_many(DataType type, ReduceOp op, const Bytes& first, const Bytes& rest, std::size_t fan_in,
                const Bytes& wanted, std::size_t shift) {
  Guarded target(first, shift), source(rest, shift * 3 % 64);
  const std::size_t count = first.size() / size_of(type);
  const auto kernel = reduce_many_kernel(type, op);
  Guarded apart(Bytes(first.size()), shift * 5 % 64);
  const auto parts = parts_of(target.data(), source.data(), fan_in, first.size());
  kernel(apart.data(), parts.data(), parts.size(), count, true, 0.25);
  CHECK(first_difference(type, apart.content(), wanted) == -1);
  CHECK((target.content() == first && source.content() == rest));
  if (fan_in > 0) {
    Guarded again(rest, shift * 3 % 64);
    const auto others = parts_of(target.data(), again.data(), fan_in, first.size());
    kernel(again.data(), others.data(), others.size(), count, true, 0.25);
    const Bytes got(again.data(), again.data() + first.size());
    CHECK(first_difference(type, got, wanted) == -1);
    CHECK(again.guards_intact());
  }
  kernel(target.data(), parts.data(), parts.size(), count, true, 0.25);
  CHECK(first_difference(type, target.content(), wanted) == -1);
  CHECK((target.guards_intact() && source.guards_intact() && apart.guards_intact()));
  CHECK(source.content() == rest);
}

}  // namespace

TEST_CASE("two operands of any count, at any offset, apart or in place") {
  constexpr std::uint64_t kSeed = 0x5eed0011;
  CAPTURE(kSeed);
  Random random(kSeed);
  for_each_defined_pair([&](DataType type, ReduceOp op) {
    for (std::size_t count : counts()) {
      const std::size_t shift = random() % 64;
      CAPTURE(to_string(type), to_string(op), count, shift);
      const Bytes a = hostile_bytes(type, count, random), b = hostile_bytes(type, count, random);
      const Bytes wanted = expected_two(type, op, a, b);
      for_each_target([&] { check_two(type, op, a, b, wanted, shift); });
    }
  });
}

TEST_CASE("many operands of any count and offset") {
  constexpr std::uint64_t kSeed = 0x5eed0012;
  CAPTURE(kSeed);
  Random random(kSeed);
  for_each_defined_pair([&](DataType type, ReduceOp op) {
    for (std::size_t count : counts()) {
      const std::size_t shift = random() % 64, fan_in = random() % 4;
      CAPTURE(to_string(type), to_string(op), count, shift, fan_in);
      const Bytes into = hostile_bytes(type, count, random),
                  parts = hostile_bytes(type, count * fan_in, random);
      const Bytes wanted = expected_many(type, op, into, parts, fan_in, true, 0.25);
      for_each_target([&] { check_many(type, op, into, parts, fan_in, wanted, shift); });
    }
  });
}

TEST_CASE("no elements: nothing is touched, null pointers included") {
  for_each_target([] {
    for_each_defined_pair([](DataType type, ReduceOp op) {
      reduce_kernel(type, op)(nullptr, nullptr, nullptr, 0);
      const void* const nothing[3] = {};
      reduce_many_kernel(type, op)(nullptr, nothing, 3, 0, true, 0.25);
    });
  });
  SUCCEED();
}

}  // namespace strata::test
