// Where the boxes of a diagram go in a picture.
#pragma once
#include <string>
#include <vector>

#include "tools/strata_topo/diagram.hpp"

namespace strata::topo {

inline constexpr double kHeaderHeight = 26, kPadding = 10, kGap = 8;  // of a box, pixels

struct Placed {
  const Box* box = nullptr;
  double x = 0, y = 0, width = 0, height = 0;  // from the picture's top left corner
  std::vector<Placed> children{};
};

// In about the shape of a page, at least so wide. The boxes must stay where they are in memory.
Placed layout(const Box& box, double width_min = 0);

// Roughly: what is drawn with is not known. Titles are bold.
double title_width(const std::string& text);
double note_width(const std::string& text);

}  // namespace strata::topo
