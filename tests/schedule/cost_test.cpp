// What algorithms cost: messages, bytes and rounds are those of the literature.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "tests/schedule/world.hpp"

namespace strata::test {
namespace {

struct Cost {
  std::uint64_t messages = 0;  // most any rank sends
  std::uint64_t bytes = 0;     // most any rank sends
  std::uint64_t all_bytes = 0;
  int rounds = 0;  // most messages on any chain of steps that wait for each other
};

// Steps after which one more message has arrived, over all ranks. Program order is a topological order of
// each rank; ranks are gone through again until nothing changes.
int count_rounds(const Schedules& schedules) {
  std::map<std::tuple<Rank, Rank, std::uint32_t>, int> arrival;
  int longest = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = 0; r < schedules.size(); ++r) {
      const Schedule& s = schedules[r];
      const auto me = static_cast<Rank>(r);
      std::vector<int> depth(s.steps.size(), 0);
      for (StepId id = 0; id < s.steps.size(); ++id) {
        const Step& step = s.steps[id];
        if (step.op == Op::send) {
          int& at = arrival[{me, step.peer, s.message[id]}];
          changed = changed || at != depth[id] + 1;
          at = depth[id] + 1;
        } else if (step.on_wire()) {
          depth[id] = std::max(depth[id], arrival[{step.peer, me, s.message[id]}]);
        }
        longest = std::max(longest, depth[id]);
        const bool sends = step.op == Op::send;
        for (const StepId d : s.dependents_of(id))
          if (!sends)
            depth[d] = std::max(depth[d], depth[id]);  // a send's end is no round: it may be buffered
      }
    }
  }
  return longest;
}

Cost cost_of(const char* name, Collective collective, int size, std::uint64_t count, Rank root = 0,
             const Tuning& tuning = {}) {
  Request request;
  request.collective = collective;
  request.count = count;
  request.root = root;
  const Algorithm* algorithm = find_algorithm(collective, name);
  REQUIRE(algorithm != nullptr);
  const Schedules schedules = derive_all(build_all(*algorithm, same_on_all(request, size), tuning));
  Cost cost;
  for (const Schedule& s : schedules) {
    std::uint64_t messages = 0, bytes = 0;
    for (const Step& step : s.steps) {
      if (step.op != Op::send) continue;
      ++messages;
      bytes += step.length;
    }
    cost.messages = std::max(cost.messages, messages);
    cost.bytes = std::max(cost.bytes, bytes);
    cost.all_bytes += bytes;
  }
  cost.rounds = count_rounds(schedules);
  return cost;
}

int log2_down(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }
std::uint64_t log2_up(int n) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(n - 1)));
}

constexpr std::uint64_t kEach = 5;  // elements, of one byte

}  // namespace

TEST_CASE("ring sends the least bytes there can be") {
  for (int size = 2; size <= 16; ++size) {
    CAPTURE(size);
    const auto n = static_cast<std::uint64_t>(size);
    const Cost all_reduce = cost_of("ring", Collective::all_reduce, size, n * kEach);
    CHECK(all_reduce.bytes == 2 * (n - 1) * kEach);
    CHECK(all_reduce.messages == 2 * (n - 1));
    CHECK(all_reduce.rounds == 2 * (size - 1));
    for (const Collective half : {Collective::reduce_scatter, Collective::all_gather}) {
      const Cost cost = cost_of("ring", half, size, kEach);
      CHECK(cost.bytes == (n - 1) * kEach);
      CHECK(cost.messages == n - 1);
      CHECK(cost.rounds == size - 1);
    }
  }
}

TEST_CASE("cutting adds messages but no bytes") {
  const Cost whole = cost_of("ring", Collective::all_reduce, 4, 400);
  const Cost cut = cost_of("ring", Collective::all_reduce, 4, 400, 0, {2, 10});
  CHECK(cut.bytes == whole.bytes);
  CHECK(cut.messages == whole.messages * 10);  // chunks of 100 in pieces of 10
}

TEST_CASE("recursive doubling takes log n rounds of everything") {
  for (int size = 2; size <= 16; ++size) {
    CAPTURE(size);
    const bool folds = !std::has_single_bit(static_cast<unsigned>(size));
    const int rounds = log2_down(size);
    const Cost cost = cost_of("recursive_doubling", Collective::all_reduce, size, kEach);
    CHECK(cost.rounds <= rounds + (folds ? 2 : 0));  // less where those that fold meet few others that do
    CHECK((folds || cost.rounds == rounds));
    CHECK(cost.messages == static_cast<std::uint64_t>(rounds + (folds ? 1 : 0)));
    CHECK(cost.bytes == cost.messages * kEach);
  }
}

TEST_CASE("halving and doubling sends as few bytes as a ring, in log n rounds") {
  for (const int size : {2, 4, 8, 16}) {
    CAPTURE(size);
    const auto n = static_cast<std::uint64_t>(size);
    const Cost all_reduce = cost_of("halving_doubling", Collective::all_reduce, size, n * kEach);
    CHECK(all_reduce.bytes == 2 * (n - 1) * kEach);
    CHECK(all_reduce.messages == 2 * log2_up(size));
    CHECK(all_reduce.rounds == static_cast<int>(2 * log2_up(size)));
    const Cost reduce_scatter = cost_of("halving_doubling", Collective::reduce_scatter, size, kEach);
    CHECK(reduce_scatter.bytes == (n - 1) * kEach);
    CHECK(reduce_scatter.messages == log2_up(size));
    const Cost all_gather = cost_of("recursive_doubling", Collective::all_gather, size, kEach);
    CHECK(all_gather.bytes == (n - 1) * kEach);
    CHECK(all_gather.messages == log2_up(size));
  }
}

TEST_CASE("binomial trees take log n rounds from any root") {
  for (int size = 2; size <= 16; ++size)
    for (const Rank root : {0, size / 2, size - 1}) {
      CAPTURE(size, root);
      const auto n = static_cast<std::uint64_t>(size);
      const Cost broadcast = cost_of("binomial_tree", Collective::broadcast, size, kEach, root);
      CHECK(broadcast.rounds == log2_down(size));  // the root's log n sends can run at once
      CHECK(broadcast.messages == log2_up(size));
      CHECK(broadcast.all_bytes == (n - 1) * kEach);
      const Cost reduce = cost_of("binomial_tree", Collective::reduce, size, kEach, root);
      CHECK(reduce.rounds == log2_down(size));
      CHECK(reduce.bytes == kEach);
      CHECK(reduce.all_bytes == (n - 1) * kEach);
      CHECK(cost_of("binomial_tree", Collective::gather, size, kEach, root).rounds == log2_down(size));
      CHECK(cost_of("binomial_tree", Collective::scatter, size, kEach, root).bytes == (n - 1) * kEach);
    }
}

TEST_CASE("Bruck's algorithms take log n messages, pairwise and linear the least bytes") {
  for (int size = 2; size <= 16; ++size) {
    CAPTURE(size);
    const auto n = static_cast<std::uint64_t>(size);
    const Cost gather = cost_of("bruck", Collective::all_gather, size, kEach);
    CHECK(gather.messages == log2_up(size));
    CHECK(gather.rounds <= static_cast<int>(log2_up(size)));  // less where the last message is short
    CHECK(gather.bytes == (n - 1) * kEach);
    std::uint64_t bits = 0;
    for (unsigned d = 1; d < n; ++d) bits += static_cast<std::uint64_t>(std::popcount(d));
    const Cost exchange = cost_of("bruck", Collective::all_to_all, size, kEach);
    CHECK(exchange.messages == log2_up(size));
    CHECK(exchange.rounds <= static_cast<int>(log2_up(size)));
    CHECK(exchange.bytes == bits * kEach);
    const Cost pairwise = cost_of("pairwise", Collective::all_to_all, size, kEach);
    CHECK(pairwise.messages == n - 1);
    CHECK(pairwise.bytes == (n - 1) * kEach);
    CHECK(cost_of("linear", Collective::gather, size, kEach, 1).all_bytes == (n - 1) * kEach);
    CHECK(cost_of("linear", Collective::scatter, size, kEach, 1).all_bytes == (n - 1) * kEach);
  }
}

TEST_CASE("direct algorithms take one or two rounds") {
  for (int size = 2; size <= 16; ++size) {
    CAPTURE(size);
    const auto n = static_cast<std::uint64_t>(size);
    const Cost one_shot = cost_of("one_shot", Collective::all_reduce, size, kEach);
    CHECK(one_shot.rounds == 1);
    CHECK(one_shot.bytes == (n - 1) * kEach);
    const Cost direct = cost_of("direct", Collective::all_reduce, size, n * kEach);
    CHECK(direct.rounds == 2);
    CHECK(direct.bytes == 2 * (n - 1) * kEach);
    CHECK(cost_of("direct", Collective::reduce_scatter, size, kEach).rounds == 1);
    CHECK(cost_of("direct", Collective::all_gather, size, kEach).rounds == 1);
    CHECK(cost_of("direct", Collective::reduce, size, kEach).rounds == 1);
    CHECK(cost_of("dissemination", Collective::barrier, size, 0).rounds <= static_cast<int>(log2_up(size)));
  }
}

TEST_CASE("a chain passes every byte once and fills its pipeline") {
  const std::uint64_t bytes = 64;
  for (int size = 2; size <= 16; ++size) {
    CAPTURE(size);
    const Cost broadcast = cost_of("chain", Collective::broadcast, size, bytes, 0, {1, 8});
    CHECK(broadcast.bytes == bytes);
    CHECK(broadcast.messages == 8);
    CHECK(broadcast.rounds == size - 1);
    CHECK(cost_of("chain", Collective::reduce, size, bytes, 0, {1, 8}).bytes == bytes);
  }
}

}  // namespace strata::test
