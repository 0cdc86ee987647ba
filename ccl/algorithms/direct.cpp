// Everybody with everybody at once, and sums in one step: each element is rounded once, whatever its type.
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/fragments.hpp"

namespace strata {
namespace {

void sum_directly(Writer& writer, const Group& group, std::span<const Slice> addends, Slice mine) {
  const auto others = static_cast<std::uint64_t>(group.size() - 1);
  Slots sets(writer.program(), others * writer.piece_bytes_max(mine.length), kSumSets);
  direct_reduce_scatter(writer, group, addends, mine, sets, writer.finishes());
}

}  // namespace

void direct_all_reduce(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const Chunks sums = cut_evenly(data.out, group.size(), request.element_bytes());
  sum_directly(writer, group, cut_evenly(data.in, group.size(), request.element_bytes()),
               sums[static_cast<std::size_t>(group.me)]);
  direct_all_gather(writer, group, sums);
}

void direct_reduce_scatter(Program& program, const Request& request, const Group& group,
                           const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const Parts parts(data.in, request.element_bytes(), size, request.count, request.counts);
  sum_directly(writer, group, chunks_of(parts, size), data.out);
}

void direct_reduce(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  if (group.me != request.root) return writer.send(group.at(request.root), data.in);
  const auto others = static_cast<std::uint64_t>(group.size() - 1);
  Slots sets(program, others * writer.piece_bytes_max(data.in.length), kSumSets);
  for (int i = 0; i < writer.pieces(data.in.length); ++i)
    receive_and_sum(writer, group, sets, writer.piece(data.in, i), writer.piece(data.out, i),
                    writer.channel(i), writer.finishes());
}

void direct_all_gather(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const Parts parts(data.out, request.element_bytes(), size, request.count, request.counts);
  writer.copy(data.in, parts[group.me]);
  direct_all_gather(writer, group, chunks_of(parts, size));
}

}  // namespace strata
