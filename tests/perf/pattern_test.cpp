// The benchmark's own data: results must be exact whatever the order of combination, and every error must
// count.
#include "tools/strata_perf/pattern.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "ccl/compute/reduce.hpp"

namespace strata::perf {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint64_t kCount = 300;

Bytes input_of(const Pattern& p, Rank rank) {
  Bytes bytes(kCount * size_of(p.type));
  fill(p, rank, kCount, bytes.data());
  return bytes;
}

Bytes combine(const Pattern& p, Bytes a, const Bytes& b) {
  reduce_kernel(p.type, p.op)(a.data(), a.data(), b.data(), kCount);
  return a;
}

// Ranks begin..end - 1, combined as a tree.
Bytes tree(const Pattern& p, Rank begin, Rank end) {
  if (end - begin == 1) return input_of(p, begin);
  const Rank middle = begin + (end - begin + 1) / 2;
  return combine(p, tree(p, middle, end), tree(p, begin, middle));
}

// The last one first, one by one, and the scaling at the end.
Bytes chain(const Pattern& p) {
  Bytes sum = input_of(p, p.ranks - 1);
  for (Rank r = p.ranks - 2; r >= 0; --r) sum = combine(p, sum, input_of(p, r));
  return sum;
}

Bytes all_at_once(const Pattern& p) {
  std::vector<Bytes> inputs;
  for (Rank r = 0; r < p.ranks; ++r) inputs.push_back(input_of(p, r));
  std::vector<const void*> parts;
  for (const Bytes& input : inputs) parts.push_back(input.data());
  const double scale = p.op == ReduceOp::average ? 1.0 / p.ranks : Pattern::kScale;
  Bytes into(inputs.front().size());
  reduce_many_kernel(p.type, p.op)(into.data(), parts.data(), parts.size(), kCount, true, scale);
  return into;
}

bool has_last_scaling(ReduceOp op) { return op == ReduceOp::average || op == ReduceOp::scaled_sum; }

template <class F>
void for_each_pattern(F f) {
  for (int ranks : {1, 2, 3, 4, 7, 16, 65, 300})
    for (int t = 0; t < kDataTypes; ++t)
      for (int o = 0; o < kReduceOps; ++o) {
        const Pattern p{static_cast<DataType>(t), static_cast<ReduceOp>(o), true, ranks, 77};
        if (!is_defined(p.op, p.type)) continue;
        CAPTURE(to_string(p.type), to_string(p.op), ranks);
        f(p);
      }
}

const std::vector<Source> kReduced = {{Source::kAllRanks, 0, kCount}};

}  // namespace

TEST_CASE("the expected reduction is what the kernels compute, in any order") {
  for_each_pattern([](const Pattern& p) {
    CHECK(count_wrong(p, kReduced, all_at_once(p).data()) == 0);
    if (has_last_scaling(p.op)) return;
    CHECK(count_wrong(p, kReduced, tree(p, 0, p.ranks).data()) == 0);
    CHECK(count_wrong(p, kReduced, chain(p).data()) == 0);
  });
}

TEST_CASE("float sums are exact before their last scaling too") {
  for_each_pattern([](Pattern p) {
    if (is_integer(p.type) || !has_last_scaling(p.op)) return;
    const Bytes one = tree(p, 0, p.ranks), other = chain(p);
    p.op = ReduceOp::sum;
    CHECK(count_wrong(p, kReduced, one.data()) == 0);
    CHECK(count_wrong(p, kReduced, other.data()) == 0);
  });
}

TEST_CASE("a wrong element counts, wherever it is and however little it is wrong") {
  for_each_pattern([](const Pattern& p) {
    if (p.op == ReduceOp::average && !is_integer(p.type)) return;  // has its tolerance
    const Bytes right = all_at_once(p);
    for (std::uint64_t i : {std::uint64_t{0}, kCount / 2, kCount - 1}) {
      Bytes wrong = right;
      wrong[i * size_of(p.type)] ^= std::byte{1};
      CHECK(count_wrong(p, kReduced, wrong.data()) == 1);
    }
    CHECK(count_wrong(p, kReduced, Bytes(right.size(), std::byte{0xa5}).data()) > kCount / 4);
  });
}

TEST_CASE("averages of floats may differ by two units in the last place and no more") {
  const Pattern p{DataType::float32, ReduceOp::average, true, 3, 5};
  const Bytes right = all_at_once(p);
  for (const auto& [units, wrong] : {std::pair{0, 0}, {1, 0}, {2, 0}, {4, 1}}) {
    std::uint64_t index = 0;
    float value = 0;
    while (value == 0) std::memcpy(&value, &right[4 * ++index], 4);
    Bytes moved = right;
    std::uint32_t bits;
    std::memcpy(&bits, &moved[4 * index], 4);
    bits += static_cast<std::uint32_t>(units);
    std::memcpy(&moved[4 * index], &bits, 4);
    CAPTURE(units);
    CHECK(count_wrong(p, kReduced, moved.data()) == static_cast<std::uint64_t>(wrong));
  }
}

TEST_CASE("ranks and seeds differ, so that data from the wrong place are seen") {
  for (int t = 0; t < kDataTypes; ++t) {
    Pattern p{static_cast<DataType>(t), ReduceOp::sum, false, 4, 1};
    CAPTURE(to_string(p.type));
    const Bytes mine = input_of(p, 2);
    const std::vector<Source> whole = {{2, 0, kCount}}, other_rank = {{1, 0, kCount}};
    CHECK(count_wrong(p, whole, mine.data()) == 0);
    CHECK(count_wrong(p, other_rank, mine.data()) > kCount / 2);
    const std::vector<Source> shifted = {{2, 1, kCount - 1}};
    CHECK(count_wrong(p, shifted, mine.data()) > kCount / 2);
    CHECK(count_wrong(p, shifted, mine.data() + size_of(p.type)) == 0);
    p.seed = 2;
    CHECK(count_wrong(p, whole, mine.data()) > kCount / 2);
  }
}

}  // namespace strata::perf
