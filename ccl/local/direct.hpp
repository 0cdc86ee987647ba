// Does the moves of straight.hpp: works on the members' buffers, with nothing in between. A buffer is mapped
// here, or its owner's memory is read.
#pragma once
#include <cstdint>
#include <vector>

#include "ccl/compute/reduce.hpp"
#include "ccl/local/straight.hpp"
#include "ccl/shm/process_memory.hpp"

namespace strata {

// A buffer of a member, as this process gets at it.
struct Reach {
  std::byte* mapped = nullptr;           // where it is mapped here; null: it is not, then
  const shm::ProcessMark* of = nullptr;  // whose memory it is in,
  std::uint64_t address = 0;             // and where there
};

class DirectMoves final {
 public:
  enum class Progress : std::uint8_t { some, all, failed };

  // Keeps its memory from one call to the next. Order: resize, set_buffers for the others, begin, advance.
  void resize(int members);
  // Nothing where the member does not lend it. Reductions need all that is lent mapped.
  void set_buffers(int member, Reach input, Reach output);
  void begin(const Shape& shape, const std::byte* input, std::byte* output, ReduceManyKernel reduce,
             double scale, std::uint64_t element_bytes);
  Progress advance();
  // After `failed`: whose memory could not be read, and why.
  int whose() const { return whose_; }
  const Status& failure() const { return failure_; }

 private:
  void plan_reduction();
  bool reduce_some();
  void reduce_tile(std::uint64_t length);
  bool fetch_some();
  bool fetch(const Fetch& fetch, std::uint64_t bytes);

  Shape shape_;
  ReduceManyKernel reduce_ = nullptr;
  double scale_ = 1.0;
  std::uint64_t element_bytes_ = 1;
  bool streaming_ = false;
  std::vector<Reach> inputs_, outputs_;
  std::uint64_t at_ = 0;  // bytes done of what is worked on

  // A reduction: my share of all inputs, and everywhere it goes; both move on with each tile.
  std::vector<const void*> parts_;
  std::vector<void*> targets_;
  std::vector<std::byte> tile_;

  // Anything else.
  std::vector<Fetch> fetches_;
  std::size_t fetched_ = 0;
  int whose_ = -1;
  Status failure_;
};

}  // namespace strata
