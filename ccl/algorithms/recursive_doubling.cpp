// Recursive doubling: fewest rounds, each with all the data. For little of it.
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/fragments.hpp"

namespace strata {
namespace {

// Sums by exchange with ever farther members. What is sent in a round must not be overwritten in it, so the
// sum goes to and fro between two places, and the last round (or a copy) puts it into `out`.
void exchange_sums(Writer& writer, const Fold& fold, Rank left, const Operands& data) {
  int rounds_left = 0;
  for (int n = fold.active.size(); n > 1; n /= 2) ++rounds_left;
  const bool alone = rounds_left == 0 && !fold.acts_for_two();
  const Slice other = writer.program().scratch(alone ? 0 : data.out.length);
  const auto place = [&] { return rounds_left % 2 == 0 ? data.out : other; };
  Slice sum = data.in;
  if (fold.acts_for_two()) {
    writer.recv_reduce(left, sum, place());
    sum = place();
  }
  for (int distance = 1; distance < fold.active.size(); distance *= 2) {
    --rounds_left;
    if (sum == place()) {  // in place, first round
      writer.copy(sum, other);
      sum = other;
    }
    const Rank peer = fold.active.at(fold.active.me ^ distance);
    writer.send(peer, sum);
    writer.recv_reduce(peer, sum, place());
    sum = place();
  }
  writer.copy(sum, data.out);
}

}  // namespace

void recursive_doubling_all_reduce(Program& program, const Request& request, const Group& group,
                                   const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Fold folded = fold(group);
  const Rank left = group.at(group.me - 1), right = group.at(group.me + 1);
  if (folded.sits_out()) {
    writer.send(right, data.in);
    return writer.recv(right, data.out);
  }
  exchange_sums(writer, folded, left, data);
  writer.finish(data.out);
  if (folded.acts_for_two()) writer.send(left, data.out);
}

void recursive_doubling_all_gather(Program& program, const Request& request, const Group& group,
                                   const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const Parts parts(data.out, request.element_bytes(), size, request.count, request.counts);
  writer.copy(data.in, parts[group.me]);
  doubling_all_gather(writer, group, chunks_of(parts, size));
}

}  // namespace strata
