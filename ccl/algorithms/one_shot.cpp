// Everybody sends everything to everybody and sums alone, in the same order: one round, for very little data.
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/fragments.hpp"

namespace strata {

void one_shot_all_reduce(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const Operands data = operands(request, group.size(), group.me);
  Writer writer(program, request, tuning);
  const auto others = static_cast<std::uint64_t>(group.size() - 1);
  Slots sets(program, others * writer.piece_bytes_max(data.in.length), kSumSets);
  for (int i = 0; i < writer.pieces(data.in.length); ++i) {
    const Slice addend = writer.piece(data.in, i);
    for (int k = 1; k < group.size(); ++k) program.send(group.at(group.me + k), addend, writer.channel(i));
    receive_and_sum(writer, group, sets, addend, writer.piece(data.out, i), writer.channel(i),
                    writer.finishes());
  }
}

}  // namespace strata
