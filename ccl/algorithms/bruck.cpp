// Bruck's algorithms: log n rounds for any number of ranks, paid for with copies. For little data.
#include <algorithm>

#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/rotation.hpp"
#include "ccl/algorithms/writer.hpp"

namespace strata {

void bruck_all_gather(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const Rotation rotation(request, size, group.me);
  const bool rotated = group.me != 0;
  const Slice hold = rotated ? program.scratch(data.out.length) : data.out;
  const auto place = [&](int begin, int end) { return rotation.in_rotated_order(hold, 0, {begin, end}); };
  writer.copy(data.in, place(0, 1));
  for (int have = 1; have < size; have *= 2) {
    const int more = std::min(have, size - have);
    writer.send(group.at(group.me - have), place(0, more));
    writer.recv(group.at(group.me + have), place(have, have + more));
  }
  if (!rotated) return;
  for (const Rotation::Run run : rotation.runs(0, size))
    writer.copy(place(run.begin, run.end), rotation.in_rank_order(data.out, run));
}

// A block bound for rank me + d travels the bits of d, lowest first, together with all blocks that share the
// bit.
void bruck_all_to_all(Program& program, const Request& request, const Group& group, const Tuning& tuning) {
  const int size = group.size();
  const Operands data = operands(request, size, group.me);
  Writer writer(program, request, tuning);
  const Parts from(data.in, request.element_bytes(), size, request.count, {});
  const Parts to(data.out, request.element_bytes(), size, request.count, {});
  const std::uint64_t block_bytes = request.count * request.element_bytes();
  std::vector<Slice> blocks;  // blocks[d]: where the one d ranks from its end, as seen at its start, is now
  for (int d = 0; d < size; ++d) blocks.push_back(from[group.wrap(group.me + d)]);
  for (int bit = 1; bit < size; bit *= 2) {
    std::vector<Slice*> moving;
    for (int d = bit; d < size; ++d)
      if (d & bit) moving.push_back(&blocks[static_cast<std::size_t>(d)]);
    const Slice leaving = program.scratch(moving.size() * block_bytes);
    const Slice arriving = program.scratch(moving.size() * block_bytes);
    for (std::size_t i = 0; i < moving.size(); ++i) {
      program.copy(*moving[i], {leaving.buffer, leaving.offset + i * block_bytes, block_bytes});
      *moving[i] = {arriving.buffer, arriving.offset + i * block_bytes, block_bytes};
    }
    writer.send(group.at(group.me + bit), leaving);
    writer.recv(group.at(group.me - bit), arriving);
  }
  for (int d = 0; d < size; ++d)
    program.copy(blocks[static_cast<std::size_t>(d)], to[group.wrap(group.me - d)]);
}

}  // namespace strata
