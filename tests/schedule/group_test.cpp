// Algorithms and their fragments among any group: ranks in any order, and groups within groups.
#include <algorithm>
#include <catch2/catch.hpp>

#include "ccl/algorithms/fragments.hpp"
#include "tests/schedule/world.hpp"

namespace strata::test {
namespace {

// A sum over the whole world, level by level from the innermost.
void hierarchical_all_reduce(Writer& writer, std::span<const Group> levels, Slice in, Slice out) {
  const Group& group = levels[0];
  const Chunks sums = cut_evenly(out, group.size(), writer.element_bytes());
  const Slice mine = sums[static_cast<std::size_t>(group.me)];
  ring_reduce_scatter(writer, group, cut_evenly(in, group.size(), writer.element_bytes()), sums);
  if (levels.size() > 1)
    hierarchical_all_reduce(writer, levels.subspan(1), mine, mine);
  else
    writer.finish(mine);
  ring_all_gather(writer, group, sums);
}

// widths[0] is the innermost level's; ranks are numbered from the inside out.
std::vector<Group> levels_of(const std::vector<int>& widths, Rank me) {
  std::vector<Group> levels;
  int stride = 1;
  for (const int width : widths) {
    Group group;
    group.me = me / stride % width;
    for (int i = 0; i < width; ++i) group.ranks.push_back(me + (i - group.me) * stride);
    levels.push_back(group);
    stride *= width;
  }
  return levels;
}

Programs build_levels(const std::vector<int>& widths, const Request& request, const Tuning& tuning) {
  int size = 1;
  for (const int width : widths) size *= width;
  Programs programs(static_cast<std::size_t>(size));
  for (Rank me = 0; me < size; ++me) {
    Writer writer(programs[static_cast<std::size_t>(me)], request, tuning);
    const Operands data = operands(request, size, me);
    hierarchical_all_reduce(writer, levels_of(widths, me), data.in, data.out);
  }
  return programs;
}

}  // namespace

TEST_CASE("fragments compose over any number of levels") {
  Request request;
  request.collective = Collective::all_reduce;
  request.type = DataType::float32;
  request.op = ReduceOp::average;
  for (const std::vector<int>& widths :
       {std::vector<int>{1}, {4}, {2, 2}, {1, 3}, {3, 1, 2}, {4, 2, 3}, {2, 4, 2, 2}, {3, 5, 2}})
    for (const std::uint64_t count : {0, 1, 5, 61})
      for (const bool in_place : {false, true})
        for (const Tuning& tuning : {Tuning{}, Tuning{1, 8}, Tuning{2, 12}}) {
          request.count = count;
          request.in_place = in_place;
          const Programs programs = build_levels(widths, request, tuning);
          const Requests requests = same_on_all(request, static_cast<int>(programs.size()));
          CAPTURE(widths, count, in_place, tuning.channels, tuning.segment_bytes);
          const Verdict fused = verify(derive_all(programs), requests, 1);
          REQUIRE(fused.message == "");
          const Programs apart = lower_all(programs, sizeof(float), [](Rank, Rank) {
            return WireAbilities{false, 8};
          });
          const Verdict lowered = verify(derive_all(apart), requests, 2);
          REQUIRE(lowered.message == "");
        }
}

TEST_CASE("algorithms name their peers through the group only") {
  constexpr int kSize = 6;
  const auto name_of = [](int index) { return 100 - 7 * index; };
  for (const Algorithm& algorithm : catalog())
    for (int me = 0; me < kSize; ++me) {
      Request request;
      request.collective = algorithm.collective;
      request.count = 13;
      request.root = 2;
      Group group = whole_group(kSize, me);
      if (!algorithm.supports(request, group)) continue;
      Program plain, renamed;
      algorithm.build(plain, request, group, {2, 3});
      std::transform(group.ranks.begin(), group.ranks.end(), group.ranks.begin(), name_of);
      algorithm.build(renamed, request, group, {2, 3});
      CAPTURE(algorithm.name, to_string(algorithm.collective), me);
      REQUIRE(plain.steps().size() == renamed.steps().size());
      for (std::size_t s = 0; s < plain.steps().size(); ++s) {
        const Step &a = plain.steps()[s], &b = renamed.steps()[s];
        REQUIRE(a.op == b.op);
        if (a.on_wire()) REQUIRE(b.peer == name_of(a.peer));
        REQUIRE(a.from() == b.from());
        REQUIRE(a.into() == b.into());
      }
    }
}

TEST_CASE("parts cover the whole, in order, between elements") {
  for (const std::uint64_t element : {1, 4, 8})
    for (std::uint64_t count = 0; count < 40; ++count)
      for (int parts = 1; parts < 20; ++parts) {
        const Slice whole{Buffer::output, 16, count * element};
        std::uint64_t at = whole.offset, shortest = ~0ull, longest = 0;
        for (int i = 0; i < parts; ++i) {
          const Slice p = part(whole, i, parts, element);
          REQUIRE(p.offset == at);
          REQUIRE(p.length % element == 0);
          at += p.length;
          shortest = std::min(shortest, p.length);
          longest = std::max(longest, p.length);
        }
        REQUIRE(at == whole.offset + whole.length);
        REQUIRE(longest - shortest <= element);
      }
}

TEST_CASE("very long slices are cut into longer pieces, not into more") {
  Request request;
  request.collective = Collective::broadcast;
  Program program;
  const Writer writer(program, request, {2, 1});
  const std::uint64_t longest = 1ull << 50;
  CHECK(writer.pieces(longest) < 10'000);
  std::uint64_t piece_max = 0;
  for (std::uint64_t length = 1; length <= longest; length *= 2) {
    for (const std::uint64_t near : {length - 1, length, length + 1}) {
      piece_max = std::max(piece_max, writer.piece({Buffer::none, 0, near}, 0).length);
      REQUIRE(piece_max <= writer.piece_bytes_max(near));
    }
  }
}

}  // namespace strata::test
