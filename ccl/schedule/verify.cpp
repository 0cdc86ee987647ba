// The proof's outline: each rank by itself, then the messages between them, then a run on symbols.
#include "ccl/schedule/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ccl/base/check.hpp"
#include "ccl/schedule/symbolic_run.hpp"

namespace strata {
namespace {

struct MessageEnd {
  std::uint64_t pair;  // sender, receiver
  std::uint32_t message;
  Place place;
  bool same_message(const MessageEnd& other) const { return pair == other.pair && message == other.message; }
  bool operator<(const MessageEnd& other) const {
    return pair != other.pair ? pair < other.pair : message < other.message;
  }
};

struct MessageEnds {
  std::vector<MessageEnd> sends;
  std::vector<MessageEnd> receives;
};

Verdict unmatched(const World& world, Place p, std::string_view what) {
  return {Flaw::unmatched,
          fmt::format("rank {} step {} ({}) {}", p.rank, p.step, describe(world.step(p)), what)};
}

Verdict collect(const World& world, MessageEnds& ends) {
  const auto size = static_cast<Rank>(world.schedules.size());
  for (Rank r = 0; r < size; ++r) {
    const Schedule& schedule = world.schedules[static_cast<std::size_t>(r)];
    for (StepId id = 0; id < schedule.steps.size(); ++id) {
      const Step& step = schedule.steps[id];
      if (!step.on_wire()) continue;
      if (step.peer < 0 || step.peer >= size || step.peer == r)
        return unmatched(world, {r, id}, "names a peer that is no other rank");
      const bool sends = step.op == Op::send;
      const auto from = static_cast<std::uint64_t>(sends ? r : step.peer);
      const auto to = static_cast<std::uint64_t>(sends ? step.peer : r);
      (sends ? ends.sends : ends.receives).push_back({from << 32 | to, schedule.message[id], {r, id}});
    }
  }
  return {};
}

Verdict sort_unique(const World& world, std::vector<MessageEnd>& ends) {
  std::sort(ends.begin(), ends.end());
  const auto same = [](const MessageEnd& a, const MessageEnd& b) { return a.same_message(b); };
  const auto twice = std::adjacent_find(ends.begin(), ends.end(), same);
  if (twice == ends.end()) return {};
  return unmatched(world, twice->place,
                   fmt::format("has the same message name as step {}", std::next(twice)->place.step));
}

Verdict match_messages(World& world) {
  MessageEnds ends;
  if (Verdict v = collect(world, ends); !v.ok()) return v;
  if (Verdict v = sort_unique(world, ends.sends); !v.ok()) return v;
  if (Verdict v = sort_unique(world, ends.receives); !v.ok()) return v;
  for (const Schedule& s : world.schedules) world.other_end.emplace_back(s.steps.size());
  auto send = ends.sends.begin();
  auto receive = ends.receives.begin();
  while (send != ends.sends.end() || receive != ends.receives.end()) {
    if (receive == ends.receives.end() || (send != ends.sends.end() && *send < *receive))
      return unmatched(world, send->place, "is never received");
    if (send == ends.sends.end() || *receive < *send)
      return unmatched(world, receive->place, "is never sent");
    const Step &a = world.step(send->place), &b = world.step(receive->place);
    if (a.length != b.length)
      return {Flaw::length_mismatch, fmt::format("rank {} step {} ({}) meets rank {} step {} ({})",
                                                 send->place.rank, send->place.step, describe(a),
                                                 receive->place.rank, receive->place.step, describe(b))};
    world.other_end[static_cast<std::size_t>(send->place.rank)][send->place.step] = receive->place;
    world.other_end[static_cast<std::size_t>(receive->place.rank)][receive->place.step] = send->place;
    ++send, ++receive;
  }
  return {};
}

std::string describe(Slice slice) {
  constexpr std::string_view kNames[] = {"none", "input", "output", "scratch"};
  return fmt::format("{}[{}, {})", kNames[static_cast<int>(slice.buffer)], slice.offset,
                     slice.offset + slice.length);
}

}  // namespace

Verdict verify(std::span<const Schedule> schedules, const Specification& specification, std::uint64_t seed) {
  STRATA_CHECK(schedules.size() == specification.ranks.size(), schedules.size(), specification.ranks.size());
  World world{schedules, specification, {}, {}, {}};
  world.touched.resize(schedules.size());
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    world.maps.emplace_back(specification.ranks[r], schedules[r].scratch_bytes, specification.element_bytes);
    if (Verdict v = check_rank(static_cast<Rank>(r), schedules[r], world.maps[r], world.touched[r]); !v.ok())
      return v;
  }
  if (Verdict v = match_messages(world); !v.ok()) return v;
  SymbolicRun run(world, seed);
  if (Verdict v = run.run(); !v.ok()) return v;
  return run.check_results();
}

std::string_view to_string(Flaw flaw) {
  constexpr std::string_view kNames[] = {
      "none",         "malformed",       "out_of_bounds", "input_written",  "race",
      "unmatched",    "length_mismatch", "deadlock",      "undefined_read", "mixed_elements",
      "double_count", "finish_misused",  "wrong_result",  "order_differs",  "not_synchronized"};
  const auto i = static_cast<std::size_t>(flaw);
  return i < std::size(kNames) ? kNames[i] : "?";
}

std::string describe(const Step& step) {
  switch (step.op) {
    case Op::send: return fmt::format("send to {}: {}", step.peer, describe(step.from()));
    case Op::recv: return fmt::format("recv from {}: {}", step.peer, describe(step.into()));
    case Op::recv_reduce:
      return fmt::format("recv_reduce from {}: {} and {}", step.peer, describe(step.into()),
                         describe(step.from()));
    case Op::reduce:
      if (step.fan_in() == 0) return fmt::format("finish {}", describe(step.into()));
      return fmt::format("reduce{} {} of {} into {}", step.finishes() ? " and finish" : "", step.fan_in(),
                         describe(step.from()), describe(step.into()));
    case Op::copy: return fmt::format("copy {} into {}", describe(step.from()), describe(step.into()));
  }
  return "?";
}

}  // namespace strata
