// The symbolic executor and the comparison of its outputs with the specification.
#include "ccl/schedule/symbolic_run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata {
namespace {

std::string at(const World& world, Place p) {
  return fmt::format("rank {} step {} ({})", p.rank, p.step, describe(world.step(p)));
}

}  // namespace

SymbolicRun::SymbolicRun(const World& world, std::uint64_t seed)
    : world_(world),
      expressions_(static_cast<int>(world.schedules.size())),
      states_(world.schedules.size()),
      shuffled_(seed != 0),
      random_(seed) {
  const auto size = static_cast<Rank>(world.schedules.size());
  for (Rank r = 0; r < size; ++r) {
    const Schedule& schedule = world.schedules[static_cast<std::size_t>(r)];
    RankState& s = state(r);
    fill_inputs(r);
    s.waits = schedule.waits;
    s.posted.assign(schedule.steps.size(), false);
    if (world.specification.barrier) {
      std::vector<bool> me(world.schedules.size(), false);
      me[static_cast<std::size_t>(r)] = true;
      s.heard.assign(schedule.steps.size(), me);
      s.heard_in_the_end = me;
    }
    for (const StepId root : schedule.roots) ready_.push_back({r, root});
  }
}

void SymbolicRun::fill_inputs(Rank rank) {
  const MemoryMap& map = world_.maps[static_cast<std::size_t>(rank)];
  state(rank).memory.resize(map.size());
  for (std::uint64_t i = map.input().begin; i < map.input().end; ++i)
    state(rank).memory[i] = {expressions_.input_of(rank), static_cast<std::uint32_t>(i - map.input().begin)};
}

Verdict SymbolicRun::run() {
  std::size_t left = 0;
  for (const Schedule& s : world_.schedules) left += s.steps.size();
  while (next_ready_ < ready_.size()) {
    const Place place = take_ready();
    if (!world_.step(place).on_wire()) {
      if (Verdict v = execute_local(place); !v.ok()) return v;
      --left;
      continue;
    }
    const Place other = world_.other_end[static_cast<std::size_t>(place.rank)][place.step];
    state(place.rank).posted[place.step] = true;
    if (!state(other.rank).posted[other.step]) continue;
    const bool sends = world_.step(place).op == Op::send;
    if (Verdict v = sends ? transfer(place, other) : transfer(other, place); !v.ok()) return v;
    left -= 2;
  }
  return left == 0 ? Verdict{} : stuck();
}

Place SymbolicRun::take_ready() {
  if (shuffled_) {
    const std::size_t count = ready_.size() - next_ready_;
    std::swap(ready_[next_ready_], ready_[next_ready_ + random_() % count]);
  }
  return ready_[next_ready_++];
}

Verdict SymbolicRun::stuck() const {
  for (Rank r = 0; r < static_cast<Rank>(states_.size()); ++r) {
    const RankState& s = states_[static_cast<std::size_t>(r)];
    for (StepId id = 0; id < s.posted.size(); ++id) {
      if (!s.posted[id]) continue;
      const Place other = world_.other_end[static_cast<std::size_t>(r)][id];
      if (states_[static_cast<std::size_t>(other.rank)].posted[other.step]) continue;
      return {Flaw::deadlock,
              fmt::format("{} waits for ever for {}", at(world_, {r, id}), at(world_, other))};
    }
  }
  return {Flaw::deadlock, "some steps never become ready"};
}

Verdict SymbolicRun::transfer(Place send, Place receive) {
  const Span from = touched(send).source, into = touched(receive).target, addend = touched(receive).source;
  const bool reduces = world_.step(receive).op == Op::recv_reduce;
  const std::vector<Symbol>& theirs = state(send.rank).memory;
  std::vector<Symbol>& mine = state(receive.rank).memory;
  for (std::uint64_t i = 0; i < into.end - into.begin; ++i) {
    const Symbol received = theirs[from.begin + i];
    Symbol& target = mine[into.begin + i];
    if (!reduces) {
      target = received;
    } else if (Verdict v = add(receive, mine[addend.begin + i], received, false, i, target); !v.ok()) {
      return v;
    }
  }
  hear(send, receive);
  complete(send);
  complete(receive);
  return {};
}

Verdict SymbolicRun::execute_local(Place place) {
  if (world_.step(place).op == Op::reduce) {
    if (Verdict v = reduce_local(place); !v.ok()) return v;
  } else {
    const Touched& t = touched(place);
    std::vector<Symbol>& memory = state(place.rank).memory;
    std::copy(memory.begin() + static_cast<std::ptrdiff_t>(t.source.begin),
              memory.begin() + static_cast<std::ptrdiff_t>(t.source.end),
              memory.begin() + static_cast<std::ptrdiff_t>(t.target.begin));
  }
  complete(place);
  return {};
}

Verdict SymbolicRun::reduce_local(Place place) {
  const Step& step = world_.step(place);
  const Touched& t = touched(place);
  const std::uint64_t count = t.target.end - t.target.begin;
  const bool wide = step.fan_in() > 1 || (step.fan_in() == 1 && step.finishes());
  std::vector<Symbol>& memory = state(place.rank).memory;
  for (std::uint64_t i = 0; i < count; ++i) {
    Symbol& target = memory[t.target.begin + i];
    for (std::uint32_t k = 0; k < step.fan_in(); ++k)
      if (Verdict v = add(place, target, memory[t.source.begin + k * count + i], wide, i, target); !v.ok())
        return v;
    if (step.finishes()) {
      if (Verdict v = finish(place, i, target); !v.ok()) return v;
    } else if (wide) {
      target.expression = expressions_.rounded(target.expression);
    }
  }
  return {};
}

Verdict SymbolicRun::add(Place place, Symbol a, Symbol b, bool wide, std::uint64_t element, Symbol& result) {
  const auto flaw = [&](Flaw kind, const std::string& what) {
    return Verdict{kind, fmt::format("{}, its element {}: {}", at(world_, place), element, what)};
  };
  if (a.expression == kUndefined || b.expression == kUndefined)
    return flaw(Flaw::undefined_read, "an operand was never written");
  if (a.position != b.position)
    return flaw(Flaw::mixed_elements,
                fmt::format("sums elements {} and {} of the inputs", a.position, b.position));
  if (expressions_.is_finished(a.expression) || expressions_.is_finished(b.expression))
    return flaw(Flaw::finish_misused, "adds to what has been finished");
  const ExpressionId sum =
      wide ? expressions_.wide_sum(a.expression, b.expression) : expressions_.sum(a.expression, b.expression);
  if (sum == kUndefined)
    return flaw(Flaw::double_count, fmt::format("adds {} to {}", expressions_.describe(b.expression),
                                                expressions_.describe(a.expression)));
  result = {sum, a.position};
  return {};
}

Verdict SymbolicRun::finish(Place place, std::uint64_t element, Symbol& symbol) {
  const auto flaw = [&](Flaw kind, std::string_view what) {
    return Verdict{kind, fmt::format("{}, its element {}: {}", at(world_, place), element, what)};
  };
  if (symbol.expression == kUndefined) return flaw(Flaw::undefined_read, "finishes what was never written");
  if (!world_.specification.finish) return flaw(Flaw::finish_misused, "the operation has nothing to finish");
  if (expressions_.is_finished(symbol.expression)) return flaw(Flaw::finish_misused, "finished before");
  symbol.expression = expressions_.finished(symbol.expression);
  return {};
}

void SymbolicRun::complete(Place place) {
  RankState& s = state(place.rank);
  const bool barrier = world_.specification.barrier;
  if (barrier)
    for (std::size_t r = 0; r < states_.size(); ++r)
      if (s.heard[place.step][r]) s.heard_in_the_end[r] = true;
  for (const StepId d : world_.schedules[static_cast<std::size_t>(place.rank)].dependents_of(place.step)) {
    if (barrier) hear(place, {place.rank, d});
    if (--s.waits[d] == 0) ready_.push_back({place.rank, d});
  }
}

void SymbolicRun::hear(Place from, Place to) {
  if (!world_.specification.barrier) return;
  const std::vector<bool>& theirs = state(from.rank).heard[from.step];
  std::vector<bool>& mine = state(to.rank).heard[to.step];
  for (std::size_t r = 0; r < theirs.size(); ++r)
    if (theirs[r]) mine[r] = true;
}

Verdict SymbolicRun::check_results() {
  const Specification& specification = world_.specification;
  for (Rank r = 0; r < static_cast<Rank>(states_.size()); ++r) {
    for (const Run& run : specification.ranks[static_cast<std::size_t>(r)].result)
      if (Verdict v = check_run(r, run); !v.ok()) return v;
    if (!specification.barrier) continue;
    for (std::size_t other = 0; other < states_.size(); ++other)
      if (!state(r).heard_in_the_end[other])
        return {Flaw::not_synchronized,
                fmt::format("rank {} ends without having heard of rank {}", r, other)};
  }
  return {};
}

Verdict SymbolicRun::check_run(Rank rank, const Run& run) {
  const Span output = world_.maps[static_cast<std::size_t>(rank)].output();
  for (std::uint64_t i = run.begin; i < run.begin + run.count; ++i) {
    const Symbol got = state(rank).memory[output.begin + i];
    if (Verdict v = check_element(rank, run, i, got); !v.ok()) return v;
    if (!world_.specification.equal_everywhere) continue;
    if (agreed_.size() <= i) agreed_.resize(i + 1, kUndefined);
    if (agreed_[i] == kUndefined) agreed_[i] = got.expression;
    if (agreed_[i] != got.expression)
      return {Flaw::order_differs,
              fmt::format("rank {} output element {}: summed in another order than at rank 0", rank, i)};
  }
  return {};
}

Verdict SymbolicRun::check_element(Rank rank, const Run& run, std::uint64_t i, Symbol got) {
  const std::uint64_t position = run.from_begin + (i - run.begin);
  const auto flaw = [&](Flaw kind, const std::string& what) {
    return Verdict{kind, fmt::format("rank {} output element {}: {}", rank, i, what)};
  };
  if (got.expression == kUndefined)
    return flaw(Flaw::undefined_read, "was never written, or with undefined bytes");
  const std::string_view wanted_kind = run.from == kAllRanks ? "the sum of element" : "element";
  if (got.position != position)
    return flaw(Flaw::wrong_result, fmt::format("holds element {} of the inputs, not {} {}", got.position,
                                                wanted_kind, position));
  if (run.from != kAllRanks) {
    if (expressions_.is_input_of(got.expression, run.from)) return {};
    return flaw(Flaw::wrong_result, fmt::format("holds {}, not rank {}'s element",
                                                expressions_.describe(got.expression), run.from));
  }
  if (!expressions_.is_complete(got.expression))
    return flaw(Flaw::wrong_result, fmt::format("holds {} only", expressions_.describe(got.expression)));
  if (expressions_.is_finished(got.expression) != world_.specification.finish)
    return flaw(Flaw::finish_misused, "was never finished");
  return {};
}

}  // namespace strata
