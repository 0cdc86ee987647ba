#include "tools/strata_perf/workspace.hpp"

#include <algorithm>
#include <cstring>

namespace strata::perf {

Workspace::Workspace(std::uint64_t bytes_max, int slots_min, bool shared)
    : input_(bytes_max * static_cast<std::uint64_t>(slots_min), shared),
      output_(bytes_max * static_cast<std::uint64_t>(slots_min), shared),
      data_(bytes_max, false) {}

void Workspace::arrange(const Shape& shape, std::uint64_t element_bytes, bool in_place,
                        std::uint64_t slots_max) {
  elements_ = shape.input;
  input_bytes_ = shape.input * element_bytes;
  output_bytes_ = shape.output * element_bytes;
  in_place_ = in_place;
  input_offset_ = in_place ? shape.input_offset * element_bytes : 0;
  output_offset_ = in_place ? shape.output_offset * element_bytes : 0;
  // The same on all ranks, so that a slot is as far into the memory everywhere.
  stride_ = shape.shown * element_bytes;
  slots_ = stride_ == 0 ? slots_max : std::min(slots_max, output_.bytes() / stride_);
}

std::byte* Workspace::input_at(std::uint64_t slot) const {
  return (in_place_ ? output_ : input_).data() + slot * stride_ + input_offset_;
}

void* Workspace::output(std::uint64_t slot) const { return output_.data() + slot * stride_ + output_offset_; }

void Workspace::make_data(const Pattern& pattern, Rank me) { fill(pattern, me, elements_, data_.data()); }

void Workspace::load(std::uint64_t slot) { std::memcpy(input_at(slot), data_.data(), input_bytes_); }

void Workspace::read(std::uint64_t slot) const {
  read_all({static_cast<const std::byte*>(output(slot)), output_bytes_});
}

void Workspace::poison(std::uint64_t slot) { std::memset(output(slot), 0xa5, output_bytes_); }

bool Workspace::nothing_else_touched(std::uint64_t slot) const {
  const bool input_intact = in_place_ || std::memcmp(input_at(slot), data_.data(), input_bytes_) == 0;
  return input_intact && input_.guards_intact() && output_.guards_intact();
}

}  // namespace strata::perf
