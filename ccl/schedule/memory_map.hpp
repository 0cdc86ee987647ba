// One rank's buffers laid end to end, in elements, and what each step touches there.
#pragma once
#include <optional>

#include "ccl/schedule/verify.hpp"

namespace strata {

// Half-open, in elements of the map.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool empty() const { return begin == end; }
  bool contains(Span other) const { return begin <= other.begin && other.end <= end; }
  bool overlaps(Span other) const { return begin < other.end && other.begin < end; }
  friend bool operator==(const Span&, const Span&) = default;
};

// In place input and output overlap in it, as they do in memory.
class MemoryMap final {
 public:
  MemoryMap(const RankSpecification& rank, std::uint64_t scratch_bytes, std::uint64_t element_bytes);

  // Nothing if the slice sticks out of its buffer or cuts an element.
  std::optional<Span> locate(Slice slice) const;
  Span input() const { return buffers_[static_cast<int>(Buffer::input)]; }
  Span output() const { return buffers_[static_cast<int>(Buffer::output)]; }
  Span scratch() const { return buffers_[static_cast<int>(Buffer::scratch)]; }
  std::uint64_t size() const { return size_; }

 private:
  Span buffers_[4];
  std::uint64_t element_bytes_;
  std::uint64_t size_;
};

// Of one step: `source` is read; `target` is written, and read too by a reduction.
struct Touched {
  Span source;
  Span target;
};

// The checks that need no other rank: each step makes sense and stays inside its buffers, the stored order is
// a sound one, and it orders all conflicts. On success `touched` has one entry a step.
Verdict check_rank(Rank rank, const Schedule& schedule, const MemoryMap& map, std::vector<Touched>& touched);

}  // namespace strata
