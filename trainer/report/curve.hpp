// A loss curve drawn with characters.
#pragma once
#include <string>
#include <vector>

namespace strata::trainer {

struct CurvePoint {
  double step, loss;
};

struct CurveStyle {
  int columns = 64, rows = 16;
  bool unicode = true;  // else ASCII only
};

// Training loss (averaged by column) and validation loss over the steps, with axes, as lines of text. Points
// that are no numbers are left out; without any, the result is empty.
std::string draw_curve(const std::vector<CurvePoint>& train, const std::vector<CurvePoint>& validation,
                       const CurveStyle& style);

// Can the terminal's character set show the curve's Unicode?
bool locale_is_utf8();

}  // namespace strata::trainer
