#include "tools/strata_perf/test_case.hpp"

#include <algorithm>
#include <numeric>

namespace strata::perf {
namespace {

constexpr TestCase kTestCases[] = {
    {.kind = Kind::all_reduce,
     .name = "all_reduce",
     .summary = "every rank gets the reduction of all inputs",
     .reduces = true},
    {.kind = Kind::all_gather,
     .name = "all_gather",
     .summary = "every rank gets all inputs",
     .per_rank = true},
    {.kind = Kind::reduce_scatter,
     .name = "reduce_scatter",
     .summary = "every rank gets its part of the reduction",
     .reduces = true,
     .per_rank = true},
    {.kind = Kind::broadcast,
     .name = "broadcast",
     .summary = "every rank gets the root's input",
     .rooted = true},
    {.kind = Kind::reduce,
     .name = "reduce",
     .summary = "the root gets the reduction of all inputs",
     .reduces = true,
     .rooted = true},
    {.kind = Kind::all_to_all,
     .name = "all_to_all",
     .summary = "every rank sends a part to every rank",
     .per_rank = true},
    {.kind = Kind::gather,
     .name = "gather",
     .summary = "the root gets all inputs",
     .rooted = true,
     .per_rank = true},
    {.kind = Kind::scatter,
     .name = "scatter",
     .summary = "every rank gets its part of the root's input",
     .rooted = true,
     .per_rank = true},
    {.kind = Kind::sendrecv,
     .name = "sendrecv",
     .summary = "every rank sends to the next and receives from the one before",
     .in_place = false},
    {.kind = Kind::ping_pong,
     .name = "ping_pong",
     .summary = "rank 0 sends to rank 1 and gets it back: the time of one way",
     .in_place = false,
     .answers = true},
    {.kind = Kind::send,
     .name = "send",
     .summary =
         "rank 0 sends to rank 1, --window messages at once, which says when it has them: the time of one",
     .in_place = false,
     .answers = true},
    {.kind = Kind::all_gather_v,
     .name = "all_gather_v",
     .summary = "all_gather of uneven counts",
     .in_place = false,
     .per_rank = true,
     .uneven = true},
    {.kind = Kind::reduce_scatter_v,
     .name = "reduce_scatter_v",
     .summary = "reduce_scatter of uneven counts",
     .reduces = true,
     .in_place = false,
     .per_rank = true,
     .uneven = true},
    {.kind = Kind::gather_v,
     .name = "gather_v",
     .summary = "gather of uneven counts",
     .rooted = true,
     .in_place = false,
     .per_rank = true,
     .uneven = true},
    {.kind = Kind::scatter_v,
     .name = "scatter_v",
     .summary = "scatter of uneven counts",
     .rooted = true,
     .in_place = false,
     .per_rank = true,
     .uneven = true},
    {.kind = Kind::all_to_all_v,
     .name = "all_to_all_v",
     .summary = "all_to_all of uneven counts",
     .in_place = false,
     .per_rank = true,
     .uneven = true},
    {.kind = Kind::barrier,
     .name = "barrier",
     .summary = "no rank leaves before all have come: latency only",
     .in_place = false},
};

// Growing from rank to rank around the average.
std::vector<std::uint64_t> uneven_counts(std::uint64_t average, int ranks) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = average * 2 * (i + 1) / (counts.size() + 1);
  return counts;
}

std::uint64_t sum_before(const std::vector<std::uint64_t>& counts, Rank rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::uint64_t{0});
}

enum class Side { one_block, all_blocks };

// How much of the data each buffer holds: one rank's block or those of all.
Side input_side(Kind kind) {
  const bool one = kind == Kind::all_gather || kind == Kind::gather || kind == Kind::all_gather_v ||
                   kind == Kind::gather_v;
  return one ? Side::one_block : Side::all_blocks;
}
Side output_side(Kind kind) {
  const bool one = kind == Kind::reduce_scatter || kind == Kind::scatter || kind == Kind::reduce_scatter_v ||
                   kind == Kind::scatter_v;
  return one ? Side::one_block : Side::all_blocks;
}

// The rank whose block it is that an in-place call leaves where it lies: with a root, that happens at the
// root alone.
bool overlaps_in_place(const TestCase& test, Rank me, Rank root) { return !test.rooted || me == root; }

// All blocks that go to `me`, in the order of the ranks they come from.
std::vector<Source> exchanged_blocks(const Shape& shape, int ranks, Rank me) {
  const auto block = [&](Rank from, Rank to) {
    return shape.counts.empty() ? shape.count : shape.counts[static_cast<std::size_t>((from + to) % ranks)];
  };
  std::vector<Source> sources;
  for (Rank from = 0; from < ranks; ++from) {
    std::uint64_t first = 0;
    for (Rank to = 0; to < me; ++to) first += block(from, to);
    sources.push_back({from, first, block(from, me)});
  }
  return sources;
}

}  // namespace

std::span<const TestCase> test_cases() { return kTestCases; }

const TestCase* find_test_case(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTestCases), std::end(kTestCases),
                                   [&](const TestCase& t) { return t.name == name; });
  return found == std::end(kTestCases) ? nullptr : found;
}

double bus_factor(const TestCase& test, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (test.kind == Kind::all_reduce) return 2 * others;
  return test.per_rank ? others : 1.0;
}

int messages_per_call(const TestCase& test, std::uint64_t bytes, int window) {
  constexpr std::uint64_t kWindowBytesMax = 64 << 20;
  if (test.kind == Kind::ping_pong) return 2;
  if (test.kind != Kind::send) return 1;
  const auto fit = kWindowBytesMax / std::max<std::uint64_t>(bytes, 1);
  return fit >= static_cast<std::uint64_t>(window) ? window
                                                   : std::max(static_cast<int>(fit), std::min(window, 2));
}

Shape shape_of(const TestCase& test, std::uint64_t elements, int ranks, Rank me, Rank root) {
  Shape shape;
  if (test.kind == Kind::barrier) return shape;
  if (!test.per_rank)
    return {.count = elements,
            .counts = {},
            .input = elements,
            .output = elements,
            .moved = elements,
            .shown = elements};
  shape.count = elements / static_cast<std::uint64_t>(ranks);
  if (test.uneven) shape.counts = uneven_counts(shape.count, ranks);
  const std::uint64_t all =
      test.uneven ? sum_before(shape.counts, ranks) : shape.count * static_cast<std::uint64_t>(ranks);
  const std::uint64_t mine = test.uneven ? shape.counts[static_cast<std::size_t>(me)] : shape.count;
  shape.input = input_side(test.kind) == Side::one_block ? mine : all;
  shape.output = output_side(test.kind) == Side::one_block ? mine : all;
  shape.moved = shape.shown = all;
  if (test.in_place && overlaps_in_place(test, me, root)) {
    const std::uint64_t before = shape.count * static_cast<std::uint64_t>(me);
    if (shape.input < shape.output) shape.input_offset = before;
    if (shape.output < shape.input) shape.output_offset = before;
  }
  return shape;
}

std::vector<Source> expected_output(const TestCase& test, const Shape& shape, int ranks, Rank me, Rank root) {
  const auto begin_of = [&](Rank r) {
    return test.uneven ? sum_before(shape.counts, r) : shape.count * static_cast<std::uint64_t>(r);
  };
  switch (test.kind) {
    case Kind::barrier: return {};
    case Kind::all_reduce: return {{Source::kAllRanks, 0, shape.count}};
    case Kind::broadcast: return {{root, 0, shape.count}};
    case Kind::sendrecv: return {{(me + ranks - 1) % ranks, 0, shape.count}};
    case Kind::ping_pong:
      if (me > 1) return {};
      return {{0, 0, shape.count}};
    case Kind::send:
      if (me != std::min(1, ranks - 1)) return {};
      return {{0, 0, shape.count}};
    case Kind::reduce_scatter:
    case Kind::reduce_scatter_v: return {{Source::kAllRanks, begin_of(me), shape.output}};
    case Kind::scatter:
    case Kind::scatter_v: return {{root, begin_of(me), shape.output}};
    case Kind::all_to_all:
    case Kind::all_to_all_v: return exchanged_blocks(shape, ranks, me);
    case Kind::reduce:
      if (me != root) return {};
      return {{Source::kAllRanks, 0, shape.count}};
    case Kind::gather:
    case Kind::gather_v:
      if (me != root) return {};
      [[fallthrough]];
    case Kind::all_gather:
    case Kind::all_gather_v: break;
  }
  std::vector<Source> sources;
  for (Rank r = 0; r < ranks; ++r) sources.push_back({r, 0, begin_of(r + 1) - begin_of(r)});
  return sources;
}

}  // namespace strata::perf
