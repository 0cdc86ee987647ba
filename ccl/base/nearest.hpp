// The known word that a mistyped one most likely means.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace strata {

// How many letters must be inserted, deleted, replaced or swapped with their neighbour to make one of the
// other (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of the words at the smallest distance; empty if there are none.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace strata
