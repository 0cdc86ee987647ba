// Ring: least bytes on the wire for any number of ranks, in 2 (n - 1) rounds.
#include <algorithm>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/fragments.hpp"

namespace strata {

void ring_all_reduce(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Chunks addends = cut_evenly(data.in, group.size(), request.element_bytes());
  const Chunks sums = cut_evenly(data.out, group.size(), request.element_bytes());
  const Slice mine = sums[static_cast<std::size_t>(group.me)];
  ring_reduce_scatter(writer, group, addends, sums);
  writer.finish(mine);  // each rank scales its own part only
  ring_all_gather(writer, group, sums);
}

void ring_reduce_scatter(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const Chunks addends =
      chunks_of(Parts(data.in, request.element_bytes(), size, request.count, request.counts), size);
  std::uint64_t longest = 0;
  if (size > 2)  // of two ranks nobody passes anything on
    for (const Slice& chunk : addends) longest = std::max(longest, chunk.length);
  const Slice passing[2] = {program.scratch(longest), program.scratch(longest)};  // one arrives, one leaves
  Chunks sums(addends.size());
  for (int round = 1; round < size; ++round) {
    const auto kept = static_cast<std::size_t>(group.wrap(group.me - round - 1));
    sums[kept] = first_bytes(passing[round % 2], addends[kept].length);
  }
  sums[static_cast<std::size_t>(group.me)] = data.out;
  ring_reduce_scatter(writer, group, addends, sums);
  writer.finish(data.out);
}

void ring_all_gather(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const Chunks chunks =
      chunks_of(Parts(data.out, request.element_bytes(), size, request.count, request.counts), size);
  writer.copy(data.in, chunks[static_cast<std::size_t>(group.me)]);
  ring_all_gather(writer, group, chunks);
}

}  // namespace strata
