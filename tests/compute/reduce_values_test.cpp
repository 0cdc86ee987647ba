// Kernels against the reference over the values: all pairs where there are few, hostile samples where there
// are many.
#include "tests/compute/cases.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace strata::test {
namespace {

// All pairs of 8-bit values; for larger types, `count` hostile ones.
struct Operands {
  Bytes a, b;
};

Operands all_pairs_of_bytes() {
  Operands pairs;
  for (unsigned x = 0; x < 256; ++x)
    for (unsigned y = 0; y < 256; ++y) {
      pairs.a.push_back(static_cast<std::byte>(x));
      pairs.b.push_back(static_cast<std::byte>(y));
    }
  return pairs;
}

// Every 16-bit code on the left.
Operands all_halves(DataType type, Random& random) {
  Operands pairs{Bytes(2 << 16), hostile_bytes(type, 1 << 16, random)};
  for (unsigned code = 0; code < 1 << 16; ++code) std::memcpy(&pairs.a[2 * code], &code, 2);
  return pairs;
}

Operands operands_for(DataType type, Random& random) {
  if (size_of(type) == 1) return all_pairs_of_bytes();
  if (size_of(type) == 2) return all_halves(type, random);
  return {hostile_bytes(type, 20'000, random), hostile_bytes(type, 20'000, random)};
}

void check_equal(DataType type, const Bytes& got, const Bytes& wanted) {
  const std::ptrdiff_t difference = first_difference(type, got, wanted);
  CHECK(difference == -1);
}

}  // namespace

TEST_CASE("two operands: every type, operation and instruction set gives the reference's bits") {
  constexpr std::uint64_t kSeed = 0x5eed0001;
  CAPTURE(kSeed);
  for_each_defined_pair([&](DataType type, ReduceOp op) {
    CAPTURE(to_string(type), to_string(op));
    Random random(kSeed);
    const auto [a, b] = operands_for(type, random);
    const Bytes wanted = expected_two(type, op, a, b);
    for_each_target(
        [&, &left = a, &right = b] { check_equal(type, run_two(type, op, left, right), wanted); });
  });
}

TEST_CASE("many operands: every type, operation, fan-in and scaling gives the reference's bits") {
  constexpr std::uint64_t kSeed = 0x5eed0002;
  CAPTURE(kSeed);
  for_each_defined_pair([&](DataType type, ReduceOp op) {
    Random random(kSeed);
    for (std::size_t fan_in = 0; fan_in <= 9; ++fan_in)
      for (bool finish : {false, true}) {
        const double ranks = static_cast<double>(fan_in) + 1;
        const double scale =
            op == ReduceOp::scaled_sum ? std::array{1.0, 0.3, -2.5}[fan_in % 3] : 1.0 / ranks;
        CAPTURE(to_string(type), to_string(op), fan_in, finish, scale);
        const Bytes into = hostile_bytes(type, 333, random),
                    parts = hostile_bytes(type, 333 * fan_in, random);
        const Bytes wanted = expected_many(type, op, into, parts, fan_in, finish, scale);
        for_each_target(
            [&] { check_equal(type, run_many(type, op, into, parts, fan_in, finish, scale), wanted); });
      }
  });
}

TEST_CASE("all values of 8- and 16-bit types survive every scaling") {
  constexpr std::uint64_t kSeed = 0x5eed0003;
  CAPTURE(kSeed);
  Random random(kSeed);
  for_each_defined_pair([&](DataType type, ReduceOp op) {
    if (size_of(type) > 2 || (op != ReduceOp::average && op != ReduceOp::scaled_sum)) return;
    const auto [a, b] = operands_for(type, random);
    for (double scale : {1.0, 0.5, 1.0 / 3, 1.0 / 7, 1.0 / 1000}) {
      CAPTURE(to_string(type), to_string(op), scale);
      const Bytes wanted = expected_many(type, op, a, b, 1, true, scale);
      for_each_target([&, &into = a, &part = b] {
        check_equal(type, run_many(type, op, into, part, 1, true, scale), wanted);
      });
    }
  });
}

TEST_CASE("scaled sums of integers take any scale: they saturate, and NaN gives zero") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::uint64_t kSeed = 0x5eed0004;
  CAPTURE(kSeed);
  Random random(kSeed);
  for_each_defined_pair([&](DataType type, ReduceOp op) {
    if (!is_integer(type) || op != ReduceOp::scaled_sum) return;
    const Bytes into = hostile_bytes(type, 1000, random), parts = hostile_bytes(type, 3000, random);
    for (double scale : {0.0, -1.0, 1e30, -1e30, kInfinity, -kInfinity, std::nan("")}) {
      CAPTURE(to_string(type), scale);
      const Bytes wanted = expected_many(type, op, into, parts, 3, true, scale);
      for_each_target([&] { check_equal(type, run_many(type, op, into, parts, 3, true, scale), wanted); });
    }
  });
}

TEST_CASE("averages of equal values are that value") {
  for_each_defined_pair([&](DataType type, ReduceOp op) {
    if (op != ReduceOp::average || size_of(type) == 8) return;
    const Bytes into = run_two(type, ReduceOp::sum, Bytes(64), Bytes(64, std::byte{0x29}));
    for (std::size_t ranks = 1; ranks <= 4; ++ranks) {
      Bytes parts;
      for (std::size_t k = 1; k < ranks; ++k) parts.insert(parts.end(), into.begin(), into.end());
      CAPTURE(to_string(type), ranks);
      check_equal(type, run_many(type, op, into, parts, ranks - 1, true, 1.0 / static_cast<double>(ranks)),
                  into);
    }
  });
}

TEST_CASE("there are kernels exactly for the pairs that mean something") {
  for (int t = 0; t < 256; ++t)
    for (int o = 0; o < 256; ++o) {
      const auto type = static_cast<DataType>(t);
      const auto op = static_cast<ReduceOp>(o);
      const bool wanted = t < kDataTypes && o < kReduceOps && is_defined(op, type);
      if ((reduce_kernel(type, op) != nullptr) == wanted &&
          (reduce_many_kernel(type, op) != nullptr) == wanted)
        continue;
      CAPTURE(t, o, wanted);
      FAIL("kernel table");
    }
}

}  // namespace strata::test
