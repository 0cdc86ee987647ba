// Barrier by dissemination: in round k each rank tells the one 2^k to its right whom it has heard of.
#include <algorithm>

#include "ccl/algorithms/builds.hpp"

namespace strata {

// The message of a round is all that was received before it, so derivation makes it wait for that. The bytes
// themselves mean nothing: they are never set.
void dissemination_barrier(Program& program, const Request&, const Group& group, const Tuning&) {
  const int size = group.size();
  const Slice heard = program.scratch(size > 1 ? static_cast<std::uint64_t>(size) : 0);
  for (int have = 1; have < size; have *= 2) {
    const auto known = static_cast<std::uint64_t>(have),
               more = static_cast<std::uint64_t>(std::min(have, size - have));
    program.send(group.at(group.me + have), {heard.buffer, heard.offset, more});
    program.recv(group.at(group.me - have), {heard.buffer, heard.offset + known, more});
  }
}

}  // namespace strata
