// The buffers of one measurement, cut into slots so that calls under way at once, and calls one after
// another, use different memory.
#pragma once
#include <cstdint>

#include "tools/strata_perf/buffers.hpp"
#include "tools/strata_perf/pattern.hpp"
#include "tools/strata_perf/test_case.hpp"

namespace strata::perf {

// Owned by the main thread.
class Workspace final {
 public:
  // Room for `slots_min` calls of the largest size. shared: on buffers of strata::allocate().
  Workspace(std::uint64_t bytes_max, int slots_min, bool shared);

  // Cuts the memory for calls of this shape. slots_max: more are not needed.
  void arrange(const Shape& shape, std::uint64_t element_bytes, bool in_place, std::uint64_t slots_max);
  std::uint64_t slots() const { return slots_; }
  const void* input(std::uint64_t slot) const { return input_at(slot); }
  void* output(std::uint64_t slot) const;

  void make_data(const Pattern& pattern, Rank me);  // what load() will put into inputs
  void load(std::uint64_t slot);                    // the owner writes its input
  void read(std::uint64_t slot) const;              // the owner reads its output
  void poison(std::uint64_t slot);                  // so that what was there before cannot pass for a result
  // Whether memory around the buffers, and an input apart from the output, are as they were.
  bool nothing_else_touched(std::uint64_t slot) const;

 private:
  std::byte* input_at(std::uint64_t slot) const;

  GuardedMemory input_, output_, data_;
  std::uint64_t stride_ = 0, slots_ = 1;
  std::uint64_t input_bytes_ = 0, output_bytes_ = 0, elements_ = 0;
  std::uint64_t input_offset_ = 0, output_offset_ = 0;
  bool in_place_ = false;
};

}  // namespace strata::perf
