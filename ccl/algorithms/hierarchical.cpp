#include "ccl/algorithms/hierarchical.hpp"

#include <algorithm>
#include <numeric>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/fragments.hpp"
#include "ccl/base/check.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kSegmentsMax = 1024;
constexpr std::uint64_t kSegmentsInFlight = 4;  // that have scratch of their own

std::size_t most_shares(const Exchange& exchange) {
  std::size_t most = 0;
  for (const auto& shares : exchange.shares) most = std::max(most, shares.size());
  return most;
}

// Each rank's k-th share; none: an empty slice.
std::vector<Slice> kth(const Exchange& exchange, std::size_t k, const Where& where) {
  std::vector<Slice> slices;
  for (const auto& shares : exchange.shares) slices.push_back(k < shares.size() ? where(shares[k]) : Slice{});
  return slices;
}

// One segment of what each rank ends up with, or has.
Holdings segment_of(const Parts& parts, int size, std::uint64_t element_bytes, std::uint64_t index,
                    std::uint64_t count) {
  Holdings held;
  for (int rank = 0; rank < size; ++rank) {
    const Slice whole = parts[rank];
    const Interval part =
        segment({whole.offset / element_bytes, (whole.offset + whole.length) / element_bytes}, index, count);
    if (part.begin < part.end) held.push_back({part, rank});
  }
  return held;
}

std::uint64_t elements_of(const Holdings& held) {
  std::uint64_t elements = 0;
  for (const Holding& h : held) elements += h.interval.end - h.interval.begin;
  return elements;
}

// What one level does, from the outside in.
using Levels = std::vector<std::vector<Exchange>>;

// Each rank ends up with an equal share; ranks of a group have all of it together.
Levels equal_shares(const std::vector<Stage>& stages, const Interval& data, Rank me) {
  Levels levels;
  for (const Stage& stage : stages) {
    std::vector<Holdings> inner;
    for (const Nest& group : stage.nest->inner) inner.push_back(share_out(group, data));
    levels.push_back(exchanges(inner, share_out(*stage.nest, data), stage.index, me));
  }
  return levels;
}

// Each rank ends up with what it is given.
Levels given_shares(const std::vector<Stage>& stages, Holdings given, Rank me) {
  Levels levels;
  for (const Stage& stage : stages) {
    std::vector<Holdings> inner;
    for (std::size_t i = 0; i < stage.nest->inner.size(); ++i)
      inner.push_back(hand_down(given, *stage.nest, i));
    levels.push_back(exchanges(inner, given, stage.index, me));
    given = std::move(inner[stage.index]);
  }
  return levels;
}

}  // namespace

Where in_order(Slice all, std::uint64_t element_bytes) {
  return [=](const Interval& i) {
    return Slice{all.buffer, all.offset + i.begin * element_bytes, (i.end - i.begin) * element_bytes};
  };
}

Where packed(Slice area, const Holdings& held, std::uint64_t element_bytes) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t offset = 0;
  for (const Holding& h : held) {
    offsets.push_back(offset);
    offset += h.interval.end - h.interval.begin;
  }
  return [=, offsets = std::move(offsets)](const Interval& i) {
    const auto after =
        std::upper_bound(held.begin(), held.end(), i.begin,
                         [](std::uint64_t begin, const Holding& h) { return begin < h.interval.begin; });
    const auto k = static_cast<std::size_t>(after - held.begin() - 1);
    STRATA_CHECK(k < held.size() && i.end <= held[k].interval.end, i.begin, i.end);
    const std::uint64_t at = offsets[k] + (i.begin - held[k].interval.begin);
    return Slice{area.buffer, area.offset + at * element_bytes, (i.end - i.begin) * element_bytes};
  };
}

std::vector<Stage> stages_of(const Nest& nest, Rank rank) {
  std::vector<Stage> stages;
  for (const Nest* at = &nest; !at->inner.empty(); at = &stages.back().mine())
    stages.push_back({at, at->index_of(rank)});
  return stages;
}

std::uint64_t segments_of(std::uint64_t bytes, const Tuning& tuning) {
  return std::clamp<std::uint64_t>(bytes / tuning.segment_bytes + (bytes % tuning.segment_bytes != 0), 1,
                                   kSegmentsMax);
}

Interval segment(const Interval& whole, std::uint64_t index, std::uint64_t count) {
  const Slice s = part({Buffer::none, whole.begin, whole.end - whole.begin}, static_cast<int>(index),
                       static_cast<int>(count), 1);
  return {s.offset, s.offset + s.length};
}

void reduce_scatter(Writer& writer, const Exchange& exchange, const Where& from, const Where& passing,
                    const Where& mine) {
  for (std::size_t k = 0; k < most_shares(exchange); ++k) {
    std::vector<Slice> sums = kth(exchange, k, passing);
    const auto me = static_cast<std::size_t>(exchange.group.me);
    if (k < exchange.shares[me].size()) sums[me] = mine(exchange.shares[me][k]);
    ring_reduce_scatter(writer, exchange.group, kth(exchange, k, from), sums);
  }
}

void all_gather(Writer& writer, const Exchange& exchange, const Where& data) {
  for (std::size_t k = 0; k < most_shares(exchange); ++k)
    ring_all_gather(writer, exchange.group, kth(exchange, k, data));
}

void hierarchical_all_reduce(Program& program, const Request& request, const Group& group,
                             const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Nest nest = nest_of(group);
  const std::vector<Stage> stages = stages_of(nest, group.me);
  const std::uint64_t element = request.element_bytes(), count = segments_of(data.out.length, tuning);
  const Where in = in_order(data.in, element), out = in_order(data.out, element);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Levels levels = equal_shares(stages, segment({0, request.count}, i, count), group.me);
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      for (const Exchange& e : *level)
        reduce_scatter(writer, e, level == levels.rbegin() ? in : out, out, out);
    for (const Exchange& e : levels.front())
      for (const Interval& mine : e.shares[static_cast<std::size_t>(e.group.me)]) writer.finish(out(mine));
    for (const auto& level : levels)
      for (const Exchange& e : level) all_gather(writer, e, out);
  }
}

void hierarchical_reduce_scatter(Program& program, const Request& request, const Group& group,
                                 const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Nest nest = nest_of(group);
  const std::vector<Stage> stages = stages_of(nest, group.me);
  const std::uint64_t element = request.element_bytes(), count = segments_of(data.in.length, tuning);
  const Parts parts({Buffer::none, 0, 0}, element, group.size(), request.count, request.counts);
  const Where in = in_order(data.in, element);
  const Interval own{parts[group.me].offset / element,
                     (parts[group.me].offset + parts[group.me].length) / element};
  const Where out = [&](const Interval& i) {
    return in_order(data.out, element)({i.begin - own.begin, i.end - own.begin});
  };
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    longest = std::max(longest, elements_of(segment_of(parts, group.size(), element, i, count)));
  Slots slots(program, longest * element, static_cast<int>(std::min(count, kSegmentsInFlight)));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Holdings given = segment_of(parts, group.size(), element, i, count);
    const Levels levels = given_shares(stages, given, group.me);
    const Where image = packed(slots.next(longest * element), given, element);
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      for (const Exchange& e : *level)
        reduce_scatter(writer, e, level == levels.rbegin() ? in : image, image,
                       level == std::prev(levels.rend()) ? out : image);
  }
  writer.finish(data.out);
}

void hierarchical_all_gather(Program& program, const Request& request, const Group& group,
                             const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Nest nest = nest_of(group);
  const std::vector<Stage> stages = stages_of(nest, group.me);
  const std::uint64_t element = request.element_bytes(), count = segments_of(data.out.length, tuning);
  const Parts parts(data.out, element, group.size(), request.count, request.counts);
  const Parts elements({Buffer::none, 0, 0}, element, group.size(), request.count, request.counts);
  writer.copy(data.in, parts[group.me]);
  for (std::uint64_t i = 0; i < count; ++i)
    for (const auto& level :
         given_shares(stages, segment_of(elements, group.size(), element, i, count), group.me))
      for (const Exchange& e : level) all_gather(writer, e, in_order(data.out, element));
}

}  // namespace strata
