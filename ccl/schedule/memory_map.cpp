// Static checks of one rank's schedule: bounds, order, races.
#include "ccl/schedule/memory_map.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata {
namespace {

std::string where(Rank rank, StepId id, const Schedule& schedule) {
  return fmt::format("rank {} step {} ({})", rank, id, describe(schedule.steps[id]));
}

std::string element(const MemoryMap& map, std::uint64_t at) {
  const auto inside = [at](Span s) { return s.begin <= at && at < s.end; };
  if (inside(map.scratch())) return fmt::format("scratch element {}", at - map.scratch().begin);
  if (inside(map.output())) return fmt::format("output element {}", at - map.output().begin);
  return fmt::format("input element {}", at - map.input().begin);
}

// The stored order must be what the executor may rely on: edges lead forward, counts and roots agree with
// them.
bool order_is_sound(const Schedule& s) {
  const std::size_t n = s.steps.size();
  if (s.waits.size() != n || s.message.size() != n || s.first_dependent.size() != n + 1) return false;
  if (s.first_dependent[0] != 0 || s.first_dependent[n] != s.dependents.size()) return false;
  std::vector<std::uint32_t> waits(n, 0);
  for (StepId id = 0; id < n; ++id) {
    if (s.first_dependent[id] > s.first_dependent[id + 1]) return false;
    for (const StepId d : s.dependents_of(id)) {
      if (d <= id || d >= n) return false;
      ++waits[d];
    }
  }
  std::vector<StepId> roots;
  for (StepId id = 0; id < n; ++id)
    if (waits[id] == 0) roots.push_back(id);
  return waits == s.waits && roots == s.roots;
}

// Does the step have the operands of its operation, and only those?
bool operands_fit(const Step& step) {
  const bool source = step.source != Buffer::none, target = step.target != Buffer::none;
  if (step.length == 0) return false;
  switch (step.op) {
    case Op::send: return source && !target;
    case Op::recv: return !source && target;
    case Op::recv_reduce:
    case Op::copy: return source && target;
    case Op::reduce: return target && source == (step.fan_in() > 0) && (source || step.finishes());
  }
  return false;
}

Verdict touch(Rank rank, StepId id, const Schedule& schedule, const MemoryMap& map, Touched& touched) {
  const Step& step = schedule.steps[id];
  if (!operands_fit(step)) return {Flaw::malformed, where(rank, id, schedule) + " has the wrong operands"};
  const std::optional<Span> source = map.locate(step.from()), target = map.locate(step.into());
  if (!source || !target)
    return {Flaw::out_of_bounds, where(rank, id, schedule) + " leaves its buffer or cuts an element"};
  const bool in_place_sum = step.op == Op::recv_reduce && *source == *target;
  if (source->overlaps(*target) && !in_place_sum)
    return {Flaw::malformed, where(rank, id, schedule) + " reads what it overwrites"};
  if (!target->empty() && !map.scratch().contains(*target) && !map.output().contains(*target))
    return {Flaw::input_written, where(rank, id, schedule) + " writes to the input"};
  touched = {*source, *target};
  return {};
}

// Which steps come after which, by the stored order.
class Reachability final {
 public:
  explicit Reachability(const Schedule& s)
      : words_((s.steps.size() + 63) / 64), bits_(s.steps.size() * words_) {
    for (std::size_t id = s.steps.size(); id-- > 0;)
      for (const StepId d : s.dependents_of(static_cast<StepId>(id))) {
        row(id)[d / 64] |= std::uint64_t{1} << (d % 64);
        for (std::size_t w = d / 64; w < words_; ++w) row(id)[w] |= row(d)[w];
      }
  }
  bool ordered(StepId before, StepId after) { return row(before)[after / 64] >> (after % 64) & 1; }

 private:
  std::uint64_t* row(std::size_t id) { return bits_.data() + id * words_; }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

struct Access {
  Span span;
  StepId step;
  bool writes;
};

Verdict check_races(Rank rank, const Schedule& schedule, const MemoryMap& map,
                    const std::vector<Touched>& touched) {
  std::vector<Access> accesses;
  for (StepId id = 0; id < touched.size(); ++id) {
    if (!touched[id].source.empty()) accesses.push_back({touched[id].source, id, false});
    if (!touched[id].target.empty()) accesses.push_back({touched[id].target, id, true});
  }
  std::sort(accesses.begin(), accesses.end(),
            [](const Access& a, const Access& b) { return a.span.begin < b.span.begin; });
  Reachability after(schedule);
  for (std::size_t i = 0; i < accesses.size(); ++i)
    for (std::size_t j = i + 1; j < accesses.size() && accesses[j].span.begin < accesses[i].span.end; ++j) {
      const Access &a = accesses[i], &b = accesses[j];
      if (a.step == b.step || (!a.writes && !b.writes)) continue;
      const StepId first = std::min(a.step, b.step), second = std::max(a.step, b.step);
      if (!after.ordered(first, second))
        return {Flaw::race,
                fmt::format("{} and step {} ({}) are not ordered but share {}", where(rank, first, schedule),
                            second, describe(schedule.steps[second]), element(map, b.span.begin))};
    }
  return {};
}

}  // namespace

MemoryMap::MemoryMap(const RankSpecification& rank, std::uint64_t scratch_bytes, std::uint64_t element_bytes)
    : element_bytes_(element_bytes) {
  const std::uint64_t in = rank.in_place ? rank.input_begin : 0;
  const std::uint64_t out = rank.in_place ? rank.output_begin : rank.input_count;
  const Span input{in, in + rank.input_count}, output{out, out + rank.output_count};
  const std::uint64_t scratch = std::max(input.end, output.end);
  size_ = scratch + (scratch_bytes + element_bytes - 1) / element_bytes;
  buffers_[static_cast<int>(Buffer::input)] = input;
  buffers_[static_cast<int>(Buffer::output)] = output;
  buffers_[static_cast<int>(Buffer::scratch)] = {scratch, size_};
}

std::optional<Span> MemoryMap::locate(Slice slice) const {
  if (slice.buffer == Buffer::none) return slice.length == 0 ? std::optional<Span>(Span{}) : std::nullopt;
  const Span buffer = buffers_[static_cast<int>(slice.buffer)];
  if (slice.offset % element_bytes_ != 0 || slice.length % element_bytes_ != 0) return std::nullopt;
  const std::uint64_t begin = slice.offset / element_bytes_, count = slice.length / element_bytes_;
  const std::uint64_t room = buffer.end - buffer.begin;
  if (begin > room || count > room - begin) return std::nullopt;
  return Span{buffer.begin + begin, buffer.begin + begin + count};
}

Verdict check_rank(Rank rank, const Schedule& schedule, const MemoryMap& map, std::vector<Touched>& touched) {
  if (!order_is_sound(schedule))
    return {Flaw::malformed, fmt::format("rank {}: the stored order contradicts itself", rank)};
  touched.resize(schedule.steps.size());
  for (StepId id = 0; id < touched.size(); ++id)
    if (Verdict v = touch(rank, id, schedule, map, touched[id]); !v.ok()) return v;
  return check_races(rank, schedule, map, touched);
}

}  // namespace strata
