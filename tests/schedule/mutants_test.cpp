// The verifier rejects what is wrong, for the right reason: programs and schedules spoilt on purpose.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "tests/schedule/world.hpp"

namespace strata::test {
namespace {

constexpr std::uint64_t kElement = 4;
using Steps = std::vector<Step>;

Request request_of(Collective collective, std::uint64_t count, ReduceOp op = ReduceOp::sum) {
  Request r;
  r.collective = collective;
  r.type = DataType::float32;
  r.op = op;
  r.count = count;
  r.root = 0;
  return r;
}

// A call by one algorithm at all ranks, whose steps and schedules can be spoilt before they are judged.
struct Call {
  Request request;
  const char* name;
  int size;
  Tuning tuning{};
  Programs programs =
      build_all(*find_algorithm(request.collective, name), same_on_all(request, size), tuning);

  Verdict judge() const { return verify(derive_all(programs), same_on_all(request, size)); }
  Verdict judge(const std::function<void(Schedules&)>& spoil) const {
    Schedules schedules = derive_all(programs);
    spoil(schedules);
    return verify(schedules, same_on_all(request, size));
  }
  void edit(std::size_t rank, const std::function<void(Steps&)>& spoil);
  void edit_all(const std::function<void(Steps&)>& spoil) {
    for (std::size_t r = 0; r < programs.size(); ++r) edit(r, spoil);
  }
};

void append(Program& program, const Step& s) {
  switch (s.op) {
    case Op::send: return program.send(s.peer, s.from(), s.channel);
    case Op::recv: return program.recv(s.peer, s.into(), s.channel);
    case Op::recv_reduce: return program.recv_reduce(s.peer, s.from(), s.into(), s.channel);
    case Op::reduce: return program.reduce(s.from(), s.into(), static_cast<int>(s.fan_in()), s.finishes());
    case Op::copy: return program.copy(s.from(), s.into());
  }
}

void Call::edit(std::size_t rank, const std::function<void(Steps&)>& spoil) {
  Steps steps = programs[rank].steps();
  spoil(steps);
  Program program;
  program.scratch(programs[rank].scratch_bytes());
  for (const Step& s : steps) append(program, s);
  programs[rank] = program;
}

bool is_finish(const Step& s) { return s.op == Op::reduce && s.fan_in() == 0; }

// The step of `theirs` (the peer's) that meets step id of `mine` (rank me's).
StepId other_end(const Schedule& mine, StepId id, const Schedule& theirs, Rank me) {
  const bool sends = mine.steps[id].op == Op::send;
  StepId end = 0;
  while (!(theirs.steps[end].on_wire() && theirs.steps[end].peer == me &&
           (theirs.steps[end].op == Op::send) != sends && theirs.message[end] == mine.message[id]))
    ++end;
  return end;
}

Steps::iterator nth(Steps& steps, Op op, int n = 0) {
  return std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.op == op && n-- == 0; });
}

Steps::iterator find_finish(Steps& steps) { return std::find_if(steps.begin(), steps.end(), is_finish); }

Call ring_all_reduce(ReduceOp op = ReduceOp::sum) {
  return {request_of(Collective::all_reduce, 8, op), "ring", 4};
}
Call ring_all_gather() { return {request_of(Collective::all_gather, 2), "ring", 4}; }

void require_flaw(const Verdict& verdict, Flaw flaw) {
  INFO(verdict.message);
  CHECK(to_string(verdict.flaw) == to_string(flaw));
  CHECK((verdict.message.find("rank") != std::string::npos) == !verdict.ok());
}

}  // namespace

TEST_CASE("what is not spoilt is accepted") {
  require_flaw(ring_all_reduce().judge(), Flaw::none);
  require_flaw(ring_all_reduce(ReduceOp::average).judge(), Flaw::none);
  require_flaw(ring_all_gather().judge(), Flaw::none);
}

TEST_CASE("a wrong chunk is found") {
  Call call = ring_all_reduce();
  call.edit(1, [](Steps& s) { nth(s, Op::send)->source_offset = 6 * kElement; });
  require_flaw(call.judge(), Flaw::mixed_elements);
}

TEST_CASE("messages sent in the wrong order are found") {
  Call call = ring_all_gather();
  call.edit(
      2, [](Steps& s) { std::swap(nth(s, Op::send, 0)->source_offset, nth(s, Op::send, 1)->source_offset); });
  const Flaw flaw = call.judge().flaw;
  CHECK((flaw == Flaw::wrong_result || flaw == Flaw::undefined_read));
}

TEST_CASE("a dropped message is found") {
  Call call = ring_all_gather();
  call.edit(1, [](Steps& s) { s.erase(nth(s, Op::send, 2)); });
  require_flaw(call.judge(), Flaw::unmatched);
  call.edit(2, [](Steps& s) { s.erase(nth(s, Op::recv, 2)); });  // and now at both ends
  require_flaw(call.judge(), Flaw::undefined_read);
}

TEST_CASE("a dropped copy is found") {
  Call call = ring_all_gather();
  call.edit(3, [](Steps& s) { s.erase(nth(s, Op::copy)); });
  require_flaw(call.judge(), Flaw::undefined_read);
}

TEST_CASE("finishing must happen once, in the end, and only if there is something to finish") {
  Call missing = ring_all_reduce(ReduceOp::average), twice = missing, late = missing;
  missing.edit(2, [](Steps& s) { s.erase(find_finish(s)); });
  require_flaw(missing.judge(), Flaw::finish_misused);
  twice.edit(2, [](Steps& s) { s.insert(find_finish(s), *find_finish(s)); });
  require_flaw(twice.judge(), Flaw::finish_misused);
  Request in_place = missing.request;
  in_place.in_place = true;
  Call early{in_place, "ring", 4};
  early.edit(2, [](Steps& s) { std::swap(*find_finish(s), *std::prev(find_finish(s))); });
  require_flaw(early.judge(), Flaw::finish_misused);
  late.edit(2, [](Steps& s) { std::rotate(find_finish(s), std::next(find_finish(s)), s.end()); });
  require_flaw(late.judge(), Flaw::finish_misused);
  Call needless = ring_all_reduce();
  const Step finish = [] {
    Steps s = ring_all_reduce(ReduceOp::average).programs[0].steps();
    return *find_finish(s);
  }();
  needless.edit(0, [&](Steps& s) { s.insert(nth(s, Op::recv), finish); });
  require_flaw(needless.judge(), Flaw::finish_misused);
}

TEST_CASE("a contribution counted twice is found") {
  Call call{request_of(Collective::all_reduce, 3), "recursive_doubling", 4};
  call.edit_all([](Steps& s) {  // the last exchange once more, into the sum
    const Step send = *nth(s, Op::send, 1);
    Step again = *nth(s, Op::recv_reduce, 1);
    again.source = again.target;
    again.source_offset = again.target_offset;
    s.push_back(send);
    s.push_back(again);
  });
  require_flaw(call.judge(), Flaw::double_count);
}

TEST_CASE("a missing contribution is found") {
  Call call{request_of(Collective::reduce, 3), "chain", 3};
  call.edit(1, [](Steps& s) {  // passes on without its own
    Step& step = *nth(s, Op::recv_reduce);
    step.op = Op::recv;
    step.source = Buffer::none;
  });
  require_flaw(call.judge(), Flaw::wrong_result);
}

TEST_CASE("ranks that wait in a circle are found") {
  Call call = ring_all_gather();
  require_flaw(call.judge([](Schedules& schedules) {
    for (Schedule& s : schedules) {  // every rank's first receive waits for its first send
      const auto is = [&s](StepId id, Op op) { return s.steps[id].op == op; };
      StepId send = 0, receive = 0;
      while (!is(send, Op::send)) ++send;
      while (!is(receive, Op::recv)) ++receive;
      s.dependents.insert(s.dependents.begin() + s.first_dependent[send + 1], receive);
      for (std::size_t i = send + 1; i < s.first_dependent.size(); ++i) ++s.first_dependent[i];
      if (s.waits[receive]++ == 0) s.roots.erase(std::find(s.roots.begin(), s.roots.end(), receive));
    }
  }),
               Flaw::deadlock);
}

TEST_CASE("a rotation through one place is a deadlock") {
  Call call{request_of(Collective::barrier, 0), "dissemination", 4};
  for (Rank r = 0; r < 4; ++r) {
    Program program;
    const Slice token = program.scratch(1);
    program.send((r + 1) % 4, token);
    program.recv((r + 3) % 4, token);
    call.programs[static_cast<std::size_t>(r)] = program;
  }
  call.request.type = DataType::uint8;
  require_flaw(call.judge(), Flaw::deadlock);
}

TEST_CASE("writing to the input is found") {
  Call call = ring_all_reduce();
  call.edit(1, [](Steps& s) {
    Step& step = *nth(s, Op::recv_reduce);
    step.target = Buffer::input;
  });
  require_flaw(call.judge(), Flaw::input_written);
}

TEST_CASE("leaving a buffer is found") {
  Call call = ring_all_reduce();
  call.edit(1, [](Steps& s) { nth(s, Op::send)->source_offset = 7 * kElement; });
  require_flaw(call.judge(), Flaw::out_of_bounds);
  Call cut = ring_all_reduce();
  cut.edit(1, [](Steps& s) { nth(s, Op::send)->source_offset += 1; });
  require_flaw(cut.judge(), Flaw::out_of_bounds);
}

TEST_CASE("messages of unequal length are found") {
  Call call = ring_all_reduce();
  call.edit(1, [](Steps& s) { nth(s, Op::recv_reduce)->length -= kElement; });
  require_flaw(call.judge(), Flaw::length_mismatch);
}

TEST_CASE("a wrong root is found") {
  Call call{request_of(Collective::broadcast, 4), "binomial_tree", 4};
  call.request.root = 1;  // what the ranks did was for root 0
  require_flaw(call.judge(), Flaw::out_of_bounds);
  Call in_place = call;
  in_place.request.root = 0;
  in_place.request.in_place = true;
  in_place.programs = build_all(*find_algorithm(Collective::broadcast, "binomial_tree"),
                                same_on_all(in_place.request, 4), in_place.tuning);
  in_place.request.root = 1;
  require_flaw(in_place.judge(), Flaw::undefined_read);
}

TEST_CASE("summing scratch nobody has written is found") {
  Call call{request_of(Collective::reduce, 3), "direct", 4};
  call.edit(0, [](Steps& s) { nth(s, Op::reduce)->target_offset = 0, s.erase(nth(s, Op::recv)); });
  require_flaw(call.judge(), Flaw::unmatched);
  call.edit(3, [](Steps& s) { s.erase(nth(s, Op::send)); });
  require_flaw(call.judge(), Flaw::undefined_read);
}

TEST_CASE("sums in another order at each rank are found") {
  Call call{request_of(Collective::all_reduce, 2), "one_shot", 3};
  for (Rank me = 0; me < 3; ++me) {
    Program program;
    const Slice in{Buffer::input, 0, 2 * kElement}, out{Buffer::output, 0, 2 * kElement};
    for (const int k : {1, 2}) program.send((me + k) % 3, in);
    program.recv_reduce((me + 2) % 3, in, out, 0);  // its left neighbour first
    program.recv_reduce((me + 1) % 3, out);
    call.programs[static_cast<std::size_t>(me)] = program;
  }
  require_flaw(call.judge(), Flaw::order_differs);
}

TEST_CASE("two messages of one name, and messages to oneself, are found") {
  const Call call = ring_all_gather();
  require_flaw(call.judge([](Schedules& schedules) { std::fill_n(schedules[1].message.begin(), 6, 0u); }),
               Flaw::unmatched);
  require_flaw(call.judge([](Schedules& schedules) {
    for (Step& s : schedules[1].steps)
      if (s.op == Op::send) s.peer = 1;
  }),
               Flaw::unmatched);
}

TEST_CASE("a schedule that contradicts itself is found") {
  const Call call = ring_all_reduce();
  require_flaw(call.judge([](Schedules& s) { ++s[0].waits.back(); }), Flaw::malformed);
  require_flaw(call.judge([](Schedules& s) { s[0].roots.pop_back(); }), Flaw::malformed);
  require_flaw(call.judge([](Schedules& s) { s[0].dependents.back() = 0; }), Flaw::malformed);
  require_flaw(call.judge([](Schedules& s) { s[0].steps[0].target = Buffer::output; }), Flaw::malformed);
  require_flaw(call.judge([](Schedules& s) { s[0].steps[0].length = 0; }), Flaw::malformed);
}

TEST_CASE("a barrier that ends too soon is found") {
  Call short_one{request_of(Collective::barrier, 0), "dissemination", 8};
  short_one.request.type = DataType::uint8;
  short_one.edit_all([](Steps& s) { s.resize(s.size() - 2); });  // the last round
  require_flaw(short_one.judge(), Flaw::not_synchronized);
  Call hasty{request_of(Collective::barrier, 0), "dissemination", 8};
  hasty.request.type = DataType::uint8;
  for (Program& program : hasty.programs) {  // no round waits for the one before it
    Program apart;
    for (Step s : program.steps()) {
      const Slice fresh = apart.scratch(s.length);
      (s.op == Op::send ? s.source_offset : s.target_offset) = fresh.offset;
      append(apart, s);
    }
    program = apart;
  }
  require_flaw(hasty.judge(), Flaw::not_synchronized);
}

TEST_CASE("every edge that is dropped is a race, unless others imply it") {
  int races = 0, implied = 0;
  for (const Algorithm& algorithm : catalog()) {
    const Request request = request_of(algorithm.collective, 5);
    if (algorithm.collective == Collective::barrier || !algorithm.supports(request, whole_group(4, 0)))
      continue;
    const Call call{request, algorithm.name.data(), 4, {2, 2 * kElement}};
    const Schedules good = derive_all(call.programs);
    for (std::size_t r = 0; r < good.size(); ++r)
      for (std::size_t edge = 0; edge < good[r].dependents.size(); ++edge) {
        Schedules schedules = good;
        Schedule& s = schedules[r];
        const auto after = std::upper_bound(s.first_dependent.begin(), s.first_dependent.end(), edge);
        const auto before = static_cast<StepId>(after - s.first_dependent.begin() - 1);
        const StepId dependent = s.dependents[edge];
        s.dependents.erase(s.dependents.begin() + static_cast<std::ptrdiff_t>(edge));
        std::for_each(after, s.first_dependent.end(), [](std::uint32_t& first) { --first; });
        if (--s.waits[dependent] == 0)
          s.roots.insert(std::upper_bound(s.roots.begin(), s.roots.end(), dependent), dependent);
        std::set<StepId> reached{before};
        for (StepId id = before; id < s.steps.size(); ++id)
          if (reached.count(id)) reached.insert(s.dependents_of(id).begin(), s.dependents_of(id).end());
        const bool other_way = reached.count(dependent) != 0;
        const Verdict verdict = verify(schedules, same_on_all(request, 4));
        INFO(describe(algorithm, same_on_all(request, 4), call.tuning)
             << ", edge " << before << " -> " << dependent);
        REQUIRE(to_string(verdict.flaw) == to_string(other_way ? Flaw::none : Flaw::race));
        ++(other_way ? implied : races);
      }
  }
  CHECK(races > 100);
  CHECK(implied < races / 4);
}

TEST_CASE("every step is needed, and needed where it is") {
  int mutants = 0;
  for (const Algorithm& algorithm : catalog())
    for (const int size : {4, 5}) {
      const Request request = request_of(algorithm.collective, 5, ReduceOp::average);
      if (!algorithm.supports(request, whole_group(size, 0))) continue;
      const Call call{request, algorithm.name.data(), size, {2, 2 * kElement}};
      const Schedules schedules = derive_all(call.programs);
      if (algorithm.collective == Collective::barrier) continue;  // its messages are not whole elements
      INFO(describe(algorithm, same_on_all(request, size), call.tuning));
      for (std::size_t r = 0; r < schedules.size(); ++r)
        for (StepId id = 0; id < schedules[r].steps.size(); ++id) {
          INFO("rank " << r << " step " << id << ": " << describe(schedules[r].steps[id]));
          Call without = call, shifted = call;
          without.edit(r, [&](Steps& steps) { steps.erase(steps.begin() + id); });
          if (const Step& step = schedules[r].steps[id]; step.on_wire()) {
            const auto peer = static_cast<std::size_t>(step.peer);
            const StepId end = other_end(schedules[r], id, schedules[peer], static_cast<Rank>(r));
            without.edit(peer, [&](Steps& steps) { steps.erase(steps.begin() + end); });
          }
          REQUIRE_FALSE(without.judge().ok());
          shifted.edit(r, [&](Steps& steps) {
            Step& step = steps[id];
            const bool in_place = step.from() == step.into();
            const std::uint64_t by = step.source_offset >= kElement ? -kElement : kElement;
            if (step.source != Buffer::none) step.source_offset += by;
            if (step.source == Buffer::none || in_place)
              step.target_offset += step.target_offset >= kElement ? -kElement : kElement;
          });
          REQUIRE_FALSE(shifted.judge().ok());
          mutants += 2;
        }
    }
  CHECK(mutants > 1000);
}

}  // namespace strata::test
