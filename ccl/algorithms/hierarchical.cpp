#include "ccl/algorithms/hierarchical.hpp"

#include <algorithm>
#include <numeric>

#include "ccl/algorithms/builds.hpp"
#include "ccl/base/check.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kSegmentsMax = 1024;

std::uint64_t segments_of(std::uint64_t bytes, const Tuning& tuning) {
  return std::clamp<std::uint64_t>(bytes / tuning.segment_bytes + (bytes % tuning.segment_bytes != 0), 1,
                                   kSegmentsMax);
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
    for (Exchange& e : levels.back()) e.unequal = !stage.nest->shares.empty();
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

HierarchicalCall::HierarchicalCall(Program& program, const Request& request, const Group& group,
                                   const Tuning& tuning, Exchanger::Pattern pattern)
    : me(group.me),
      data(operands(request, group.size(), group.me)),
      element(request.element_bytes()),
      count(segments_of(std::max(data.in.length, data.out.length), tuning)),
      nest(nest_of(group)),
      stages(stages_of(nest, group.me)),
      writer(program, request, tuning),
      exchanger(writer, pattern) {}

Interval segment(const Interval& whole, std::uint64_t index, std::uint64_t count) {
  const Slice s = part({Buffer::none, whole.begin, whole.end - whole.begin}, static_cast<int>(index),
                       static_cast<int>(count), 1);
  return {s.offset, s.offset + s.length};
}

namespace {

// Narrow floats are to be rounded as seldom as can be.
Exchanger::Pattern usual_pattern(const Request& request) {
  const bool narrow_floats = !is_integer(request.type) && size_of(request.type) < 4;
  return narrow_floats ? Exchanger::Pattern::direct : Exchanger::Pattern::ring;
}

void all_reduce(HierarchicalCall& call, std::uint64_t elements) {
  const Where in = in_order(call.data.in, call.element), out = in_order(call.data.out, call.element);
  for (std::uint64_t i = 0; i < call.count; ++i) {
    const Levels levels = equal_shares(call.stages, segment({0, elements}, i, call.count), call.me);
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      for (const Exchange& e : *level)
        call.exchanger.reduce_scatter(e, level == levels.rbegin() ? in : out, out, out,
                                      level == std::prev(levels.rend()));
    for (const auto& level : levels)
      for (const Exchange& e : level) call.exchanger.all_gather(e, out);
  }
}

void reduce_scatter(HierarchicalCall& call, const Request& request, int size) {
  const Parts parts({Buffer::none, 0, 0}, call.element, size, request.count, request.counts);
  const Where in = in_order(call.data.in, call.element);
  const std::uint64_t own = parts[call.me].offset / call.element;
  const Where out = [&](const Interval& i) {
    return in_order(call.data.out, call.element)({i.begin - own, i.end - own});
  };
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < call.count; ++i)
    longest = std::max(longest, elements_of(segment_of(parts, size, call.element, i, call.count)));
  Slots slots = call.slots(longest * call.element);
  for (std::uint64_t i = 0; i < call.count; ++i) {
    const Holdings given = segment_of(parts, size, call.element, i, call.count);
    const Levels levels = given_shares(call.stages, given, call.me);
    const Where image = packed(slots.next(longest * call.element), given, call.element);
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
      const bool last = level == std::prev(levels.rend());
      for (const Exchange& e : *level)
        call.exchanger.reduce_scatter(e, level == levels.rbegin() ? in : image, image, last ? out : image,
                                      last);
    }
  }
}

void all_gather(HierarchicalCall& call, const Request& request, int size) {
  const Parts parts(call.data.out, call.element, size, request.count, request.counts);
  const Parts elements({Buffer::none, 0, 0}, call.element, size, request.count, request.counts);
  const Where out = in_order(call.data.out, call.element);
  call.writer.copy(call.data.in, parts[call.me]);
  for (std::uint64_t i = 0; i < call.count; ++i)
    for (const auto& level :
         given_shares(call.stages, segment_of(elements, size, call.element, i, call.count), call.me))
      for (const Exchange& e : level) call.exchanger.all_gather(e, out);
}

}  // namespace

void hierarchical_all_reduce(Program& program, const Request& request, const Group& group,
                             const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, usual_pattern(request));
  all_reduce(call, request.count);
}
void hierarchical_pat_all_reduce(Program& program, const Request& request, const Group& group,
                                 const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, Exchanger::Pattern::pat);
  all_reduce(call, request.count);
}

void hierarchical_reduce_scatter(Program& program, const Request& request, const Group& group,
                                 const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, usual_pattern(request));
  reduce_scatter(call, request, group.size());
}
void hierarchical_pat_reduce_scatter(Program& program, const Request& request, const Group& group,
                                     const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, Exchanger::Pattern::pat);
  reduce_scatter(call, request, group.size());
}

void hierarchical_all_gather(Program& program, const Request& request, const Group& group,
                             const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, Exchanger::Pattern::ring);
  all_gather(call, request, group.size());
}
void hierarchical_pat_all_gather(Program& program, const Request& request, const Group& group,
                                 const Tuning& tuning) {
  HierarchicalCall call(program, request, group, tuning, Exchanger::Pattern::pat);
  all_gather(call, request, group.size());
}

}  // namespace strata
