// Bruck's all-gather, and its mirror in time. Whichever chunk it is, the ranks that pass it on form a tree;
// the messages of several trees that go the same way at the same time are one.
#include <algorithm>
#include <bit>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/fragments.hpp"

namespace strata {
namespace {

// A round over a distance moves the chunks of the receiver and of those after it. Cuts them into what goes in
// one message: chunks whose positions after the receiver are [begin, end).
struct Run {
  int begin, end;
};
class Round {
 public:
  Round(const Group& group, int distance, Lie lie)
      : group_(group), distance_(distance), chunks_(std::min(distance, group.size() - distance)), lie_(lie) {}
  int chunks() const { return chunks_; }

  // `cuts`: positions at which a message must not go on. Both ends must give the same.
  std::vector<Run> runs(int receiver, std::initializer_list<int> cuts) const {
    std::vector<Run> found;
    for (int i = 0; i < chunks_; ++i) {
      const bool cut = i == 0 || lie_ == Lie::apart || (receiver + i) % group_.size() == 0 ||
                       std::find(cuts.begin(), cuts.end(), i) != cuts.end();
      if (cut) found.push_back({i, i});
      ++found.back().end;
    }
    return found;
  }
  Slice of(std::span<const Slice> chunks, int receiver, Run run) const {
    const int first = group_.wrap(receiver + run.begin);
    return range(chunks, first, first + run.end - run.begin);
  }

 private:
  const Group& group_;
  int distance_, chunks_;
  Lie lie_;
};

}  // namespace

void pat_reduce_scatter(Writer& writer, const Group& group, std::span<const Slice> addends,
                        std::span<const Slice> sums, Slice mine, Lie lie) {
  const int n = group.size(), me = group.me;
  if (n == 1) return writer.copy(addends[0], mine);
  int summed = 0;  // so many chunks from mine on have been added to
  for (int distance = static_cast<int>(std::bit_floor(static_cast<unsigned>(n - 1))); distance > 0;
       distance /= 2) {
    const Round round(group, distance, lie);
    const int right = group.wrap(me + distance);
    const auto runs = [&](int receiver) { return round.runs(receiver, {summed, summed - distance}); };
    for (const Run run : runs(right))
      writer.send(group.at(right), round.of(run.begin + distance < summed ? sums : addends, right, run));
    for (const Run run : runs(me)) {
      const Slice into = distance == 1 ? mine : round.of(sums, me, run);
      writer.recv_reduce(group.at(me - distance), round.of(run.begin < summed ? sums : addends, me, run),
                         into);
    }
    summed = std::max(summed, round.chunks());
  }
}

void pat_all_gather(Writer& writer, const Group& group, std::span<const Slice> chunks, Lie lie) {
  for (int distance = 1; distance < group.size(); distance *= 2) {
    const Round round(group, distance, lie);
    const int right = group.wrap(group.me + distance);
    for (const Run run : round.runs(group.me, {}))
      writer.send(group.at(group.me - distance), round.of(chunks, group.me, run));
    for (const Run run : round.runs(right, {})) writer.recv(group.at(right), round.of(chunks, right, run));
  }
}

void pat_all_reduce(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Chunks sums = cut_evenly(data.out, group.size(), request.element_bytes());
  const Slice mine = sums[static_cast<std::size_t>(group.me)];
  pat_reduce_scatter(writer, group, cut_evenly(data.in, group.size(), request.element_bytes()), sums, mine,
                     Lie::in_a_row);
  writer.finish(mine);
  pat_all_gather(writer, group, sums, Lie::in_a_row);
}

void pat_reduce_scatter(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const auto parts = [&](Slice whole) {
    return chunks_of(Parts(whole, request.element_bytes(), size, request.count, request.counts), size);
  };
  const Slice partial = program.scratch(size > 2 ? data.in.length : 0);
  pat_reduce_scatter(writer, group, parts(data.in), size > 2 ? parts(partial) : parts(data.in), data.out,
                     Lie::in_a_row);
  writer.finish(data.out);
}

}  // namespace strata
