// Recursive halving, then recursive doubling: few rounds and few bytes.
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/fragments.hpp"

namespace strata {

void halving_doubling_all_reduce(Program& program, const Request& request, const Group& group,
                                 const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Fold folded = fold(group);
  const Rank left = group.at(group.me - 1), right = group.at(group.me + 1);
  if (folded.sits_out()) {
    writer.send(right, data.in);
    return writer.recv(right, data.out);
  }
  if (folded.acts_for_two()) writer.recv_reduce(left, data.in, data.out);
  const Slice addend = folded.acts_for_two() ? data.out : data.in;
  const int size = folded.active.size(), me = folded.active.me;
  const Chunks sums = cut_evenly(data.out, size, request.element_bytes());
  const Slice mine = sums[static_cast<std::size_t>(me)];
  halving_reduce_scatter(writer, folded.active, cut_evenly(addend, size, request.element_bytes()), sums,
                         mine);
  writer.finish(mine);
  doubling_all_gather(writer, folded.active, sums);
  if (folded.acts_for_two()) writer.send(left, data.out);
}

namespace {

// The parts of `whole` as those that take part own them: one that acts for two owns both its parts.
Chunks owned(Slice whole, const Parts& parts, const Fold& fold) {
  Chunks chunks;
  for (int i = 0; i < fold.active.size(); ++i) {
    const bool two = i < fold.extra;
    Slice chunk = parts[two ? 2 * i : i + fold.extra];
    if (two) chunk.length += parts[2 * i + 1].length;
    chunks.push_back({whole.buffer, whole.offset + chunk.offset - parts.whole().offset, chunk.length});
  }
  return chunks;
}

}  // namespace

void halving_doubling_reduce_scatter(Program& program, const Request& request, const Group& group,
                                     const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Fold folded = fold(group);
  const Rank left = group.at(group.me - 1), right = group.at(group.me + 1);
  if (folded.sits_out()) {
    writer.send(right, data.in);
    writer.recv(right, data.out);
    return writer.finish(data.out);
  }
  const Parts parts(data.in, request.element_bytes(), group.size(), request.count, request.counts);
  const Slice partial = program.scratch(group.size() > 1 ? data.in.length : 0);
  const Slice addend = folded.acts_for_two() ? partial : data.in;
  if (folded.acts_for_two()) writer.recv_reduce(left, data.in, partial);
  const Chunks sums = owned(partial, parts, folded);
  const Slice both = sums[static_cast<std::size_t>(folded.active.me)];
  const Slice mine = folded.acts_for_two() ? both : data.out;
  halving_reduce_scatter(writer, folded.active, owned(addend, parts, folded), sums, mine);
  if (folded.acts_for_two()) {
    const std::uint64_t lefts = both.length - data.out.length;
    writer.send(left, first_bytes(both, lefts));
    writer.copy({both.buffer, both.offset + lefts, data.out.length}, data.out);
  }
  writer.finish(data.out);
}

}  // namespace strata
