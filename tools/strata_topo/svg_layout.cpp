#include "tools/strata_topo/svg_layout.hpp"

#include <algorithm>
#include <cmath>

#include "tools/strata_topo/text_drawing.hpp"

namespace strata::topo {
namespace {

constexpr double kCoreHeight = 22, kDeviceHeight = 42, kHostHeight = 26;
constexpr double kPageShape = 1.6;  // width by height
constexpr double kCoreGap = 5;      // between rows of them

bool is_leaf(const Box& box) {
  return box.kind == Kind::core || box.kind == Kind::gpu || box.kind == Kind::nic ||
         (box.kind == Kind::host && box.children.empty());
}

Placed place_leaf(const Box& box, double core_width) {
  switch (box.kind) {
    case Kind::core: return {&box, 0, 0, core_width, kCoreHeight};
    case Kind::host: return {&box, 0, 0, note_width(box.title) + 20, kHostHeight};
    default:
      return {&box, 0, 0, std::max({84.0, title_width(box.title) + 20, note_width(box.note) + 20}),
              kDeviceHeight};
  }
}

// All cores of a drawing are as wide as the widest.
double core_width_of(const Box& box) {
  double width = box.kind == Kind::core ? std::max(30.0, note_width(box.title) + 12) : 0;
  for (const Box& child : box.children) width = std::max(width, core_width_of(child));
  return width;
}

// Cores, groups of them, switches and devices each begin a row of their own.
int row_class(const Box& box) {
  if (box.kind == Kind::core) return 0;
  if (box.kind == Kind::pcie_switch) return 2;
  return is_leaf(box) ? 3 : 1;
}

using Row = std::vector<Placed>;

double width_of(const Row& row) {
  double width = kGap * static_cast<double>(row.size() - 1);
  for (const Placed& placed : row) width += placed.width;
  return width;
}

double height_of(const Row& row) {
  double height = 0;
  for (const Placed& placed : row) height = std::max(height, placed.height);
  return height;
}

std::vector<Row> rows_of(std::vector<Placed> children, double width) {
  const std::size_t cores_a_row = children.size() <= 40 ? 8 : 16;
  std::stable_sort(children.begin(), children.end(),
                   [](const Placed& a, const Placed& b) { return row_class(*a.box) < row_class(*b.box); });
  std::vector<Row> rows;
  for (Placed& child : children) {
    const int kind = row_class(*child.box);
    const bool fits = !rows.empty() && row_class(*rows.back()[0].box) == kind &&
                      width_of(rows.back()) + kGap + child.width <= width &&
                      (kind != 0 || rows.back().size() < cores_a_row);
    if (!fits) rows.emplace_back();
    rows.back().push_back(std::move(child));
  }
  return rows;
}

// Sizes, and places within the parent.
Placed measure(const Box& box, double width_max, double core_width) {
  if (is_leaf(box)) return place_leaf(box, core_width);
  std::vector<Placed> children;
  for (const Box& child : box.children)
    children.push_back(measure(child, width_max - 2 * kPadding, core_width));
  Placed placed{&box, 0, 0, 0, 0};
  double y = kHeaderHeight, inner = 0;
  int before = -1;
  for (Row& row : rows_of(std::move(children), width_max - 2 * kPadding)) {
    const int kind = row_class(*row[0].box);
    if (before >= 0) y += kind == 0 && before == 0 ? kCoreGap : kGap;
    before = kind;
    double x = kPadding;
    const double height = height_of(row);
    inner = std::max(inner, width_of(row));
    for (Placed& child : row) {
      child.x = x, child.y = y;
      if (!is_leaf(*child.box)) child.height = height;
      x += child.width + kGap;
      placed.children.push_back(std::move(child));
    }
    y += height;
  }
  const double heading = title_width(box.title) + note_width(box.note) + 16;
  placed.width = std::max(inner, heading) + 2 * kPadding;
  placed.height = y + kPadding;
  if (box.children.empty()) placed.height = kHeaderHeight + kPadding;
  return placed;
}

// Boxes of a row take what their parent has left, so that edges are in line.
void stretch(Placed& placed) {
  for (std::size_t begin = 0, end; begin < placed.children.size(); begin = end) {
    end = begin + 1;
    while (end < placed.children.size() && placed.children[end].y == placed.children[begin].y) ++end;
    const Placed& last = placed.children[end - 1];
    const double left = placed.width - kPadding - last.x - last.width;
    if (is_leaf(*last.box) || left <= 0) continue;
    const double each = left / static_cast<double>(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      placed.children[i].x += each * static_cast<double>(i - begin);
      placed.children[i].width += each;
    }
  }
  for (Placed& child : placed.children) stretch(child);
}

void move(Placed& placed, double x, double y) {
  placed.x += x, placed.y += y;
  for (Placed& child : placed.children) move(child, placed.x, placed.y);
}

}  // namespace

double title_width(const std::string& text) { return 9.2 * columns(text); }
double note_width(const std::string& text) { return 6.7 * columns(text); }

Placed layout(const Box& box, double width_min) {
  Placed best;
  double best_misfit = 0;
  const double core_width = core_width_of(box);
  for (double width = 360; width <= 2400; width += 40) {
    Placed tried = measure(box, width, core_width);
    const double misfit = std::abs(std::log(tried.width / tried.height / kPageShape));
    if (best.box == nullptr || misfit < best_misfit) best_misfit = misfit, best = std::move(tried);
  }
  best.width = std::max(best.width, width_min);
  stretch(best);
  move(best, 0, 0);
  return best;
}

}  // namespace strata::topo
