// The moves of a collective whose buffers all members have mapped: everyone works straight on everyone's
// memory, with nothing in between.
#pragma once
#include <cstdint>
#include <vector>

#include "ccl/compute/reduce.hpp"
#include "ccl/local/moves.hpp"

namespace strata {

// Whose input and output must be mapped by the others.
bool shares_input(const Shape& shape, int member);
bool shares_output(const Shape& shape, int member);

class DirectMoves final {
 public:
  // Keeps its memory from one call to the next. Order: resize, set_buffers for the others, begin, advance.
  void resize(int members);
  // Null where the member need not share.
  void set_buffers(int member, const std::byte* input, std::byte* output);
  void begin(const Shape& shape, const std::byte* input, std::byte* output, ReduceManyKernel reduce,
             double scale, std::uint64_t element_bytes);
  // Moves some more; true: all done.
  bool advance();

 private:
  void plan_reduction();
  void plan_copies();
  bool reduce_some();
  bool copy_some();
  void reduce_tile(std::uint64_t length);

  Shape shape_;
  ReduceManyKernel reduce_ = nullptr;
  double scale_ = 1.0;
  std::uint64_t element_bytes_ = 1;
  bool streaming_ = false;
  std::uint64_t at_ = 0;  // bytes done of what is worked on
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;

  // A reduction: my part of all inputs, and everywhere it goes; both move on with each tile.
  std::vector<const void*> parts_;
  std::vector<void*> targets_;
  std::vector<std::byte> tile_;

  // Anything else.
  struct Copy {
    const std::byte* from;
    std::byte* into;
    std::uint64_t length;
  };
  std::vector<Copy> copies_;
  std::size_t copied_ = 0;
};

}  // namespace strata
