// The parts of a large buffer in the order of ranks that starts from a given one and wraps round.
#pragma once
#include <span>
#include <vector>

#include "ccl/algorithms/algorithm.hpp"

namespace strata {

// Position p stands for rank first + p. A range of positions is contiguous in a rotated copy, and one or two
// runs in the large buffer, which is in rank order.
class Rotation final {
 public:
  Rotation(const Request& request, int size, int first);

  struct Run {
    int begin, end;  // positions
  };
  // The runs of [begin, end), in order: what both ends of a message must agree to send in one piece.
  std::vector<Run> runs(int begin, int end) const;
  // The run in a buffer that holds all parts in rank order.
  Slice in_rank_order(Slice whole, Run run) const;
  // The run in a buffer that holds the parts from position `from` on, rotated.
  Slice in_rotated_order(Slice hold, int from, Run run) const;
  std::uint64_t bytes(Run run) const { return offset(run.end) - offset(run.begin); }

 private:
  std::uint64_t offset(int position) const { return rotated_[static_cast<std::size_t>(position)]; }

  int size_;
  int first_;
  std::vector<std::uint64_t> rotated_;  // size + 1 byte offsets of positions
};

}  // namespace strata
