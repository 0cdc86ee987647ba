// Draws the loss curve onto a grid of cells.
#include "trainer/report/curve.hpp"

#include <fmt/format.h>
#include <langinfo.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstring>

namespace strata::trainer {
namespace {

enum class Cell : char { empty, train, validation };

struct Glyphs {
  const char *train, *validation, *vertical, *tick, *corner, *horizontal;
};
constexpr Glyphs kUnicode{"·", "●", "│", "┤", "└", "─"};
constexpr Glyphs kAscii{".", "o", "|", "+", "+", "-"};
constexpr int kTickEvery = 4;  // rows between labels of the loss axis

struct Bounds {
  double step_max = 1, low = 1e300, high = -1e300;
  void take(const CurvePoint& p) {
    if (!std::isfinite(p.loss)) return;
    step_max = std::max(step_max, p.step);
    low = std::min(low, p.loss);
    high = std::max(high, p.loss);
  }
};

class Grid {
 public:
  Grid(const CurveStyle& style, const Bounds& bounds)
      : style_(style),
        bounds_(bounds),
        cells_(static_cast<std::size_t>(style.columns * style.rows), Cell::empty) {}

  int column_of(double step) const {
    return std::clamp(static_cast<int>(step / bounds_.step_max * (style_.columns - 1) + 0.5), 0,
                      style_.columns - 1);
  }
  void mark(int column, double loss, Cell cell) {
    const double height = (loss - bounds_.low) / (bounds_.high - bounds_.low);
    const int row = std::clamp(static_cast<int>((1 - height) * (style_.rows - 1) + 0.5), 0, style_.rows - 1);
    cells_[static_cast<std::size_t>(row * style_.columns + column)] = cell;
  }
  Cell at(int row, int column) const {
    return cells_[static_cast<std::size_t>(row * style_.columns + column)];
  }
  double loss_at(int row) const {
    return bounds_.high - (bounds_.high - bounds_.low) * row / (style_.rows - 1);
  }

 private:
  CurveStyle style_;
  Bounds bounds_;
  std::vector<Cell> cells_;
};

void plot_train(Grid& grid, const std::vector<CurvePoint>& points, int columns) {
  std::vector<double> sums(static_cast<std::size_t>(columns), 0), counts(sums);
  for (const CurvePoint& p : points) {
    if (!std::isfinite(p.loss)) continue;
    const auto column = static_cast<std::size_t>(grid.column_of(p.step));
    sums[column] += p.loss;
    counts[column] += 1;
  }
  for (std::size_t column = 0; column < sums.size(); ++column)
    if (counts[column] > 0) grid.mark(static_cast<int>(column), sums[column] / counts[column], Cell::train);
}

std::string row_text(const Grid& grid, int row, const CurveStyle& style, const Glyphs& glyphs) {
  const bool tick = row % kTickEvery == 0 || row == style.rows - 1;
  std::string line = tick ? fmt::format("{:7.2f} {}", grid.loss_at(row), glyphs.tick)
                          : fmt::format("{:7} {}", "", glyphs.vertical);
  for (int column = 0; column < style.columns; ++column) {
    const Cell cell = grid.at(row, column);
    line += cell == Cell::empty ? " " : cell == Cell::train ? glyphs.train : glyphs.validation;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string draw_curve(const std::vector<CurvePoint>& train, const std::vector<CurvePoint>& validation,
                       const CurveStyle& style) {
  Bounds bounds;
  for (const CurvePoint& p : train) bounds.take(p);
  for (const CurvePoint& p : validation) bounds.take(p);
  if (bounds.low > bounds.high) return {};
  if (bounds.high - bounds.low < 1e-3) bounds.high = bounds.low + 1e-3;
  const Glyphs& glyphs = style.unicode ? kUnicode : kAscii;
  Grid grid(style, bounds);
  plot_train(grid, train, style.columns);
  for (const CurvePoint& p : validation)
    if (std::isfinite(p.loss)) grid.mark(grid.column_of(p.step), p.loss, Cell::validation);

  std::string text = fmt::format("   loss   {} training   {} validation\n", glyphs.train, glyphs.validation);
  for (int row = 0; row < style.rows; ++row) text += row_text(grid, row, style, glyphs);
  text += fmt::format("{:7} {}", "", glyphs.corner);
  for (int column = 0; column < style.columns; ++column) text += glyphs.horizontal;
  const std::string last = fmt::format("{:.0f}", bounds.step_max);
  text +=
      fmt::format("\n{:9}0{:^{}}{}\n", "", "step", style.columns - 1 - static_cast<int>(last.size()), last);
  return text;
}

bool locale_is_utf8() {
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

}  // namespace strata::trainer
