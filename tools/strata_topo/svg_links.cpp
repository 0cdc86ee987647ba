#include "tools/strata_topo/svg_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "ccl/topology/quantity.hpp"

namespace strata::topo {
namespace {

using namespace topology;

constexpr double kRadius = 130, kGpuRadius = 20, kThickest = 7;
constexpr double kHubWidth = 84, kHubHeight = 34;

struct Point {
  double x, y;
};

// The first at the top, then clockwise; half a step off, so that a pair of sides is upright.
Point place(int gpu, std::size_t gpus, Point middle) {
  const double angle = 2 * std::numbers::pi * (gpu + 0.5) / static_cast<double>(gpus) - std::numbers::pi / 2;
  return {middle.x + kRadius * std::cos(angle), middle.y + kRadius * std::sin(angle)};
}

std::string legend(const Machine& machine) {
  std::set<BitsPerSecond> rates;
  for (const GpuLink& link : machine.gpu_links) rates.insert(link.rate);
  rates.erase(0);
  if (rates.empty()) return "rates unknown";
  if (rates.size() == 1) return rounded_rate(*rates.begin()) + " each";
  return fmt::format("{} (thin) to {} (thick)", rounded_rate(*rates.begin()), rounded_rate(*rates.rbegin()));
}

}  // namespace

bool draw_gpu_links(const Machine& machine, double x, double y, SvgWriter& svg) {
  if (machine.gpu_links.empty()) return false;
  svg.rectangle("machine", x, y, kLinksSize, kLinksSize, 8);
  svg.text("title", x + 12, y + 20, "Links between GPUs");
  svg.text("note", x + 12, y + 36, legend(machine));
  const Point middle{x + kLinksSize / 2, y + kLinksSize / 2 + 16};
  BitsPerSecond most = 1;
  for (const GpuLink& link : machine.gpu_links) most = std::max(most, link.rate);
  bool hub = false;
  for (const GpuLink& link : machine.gpu_links) {
    const Point a = place(link.a, machine.gpus.size(), middle);
    const Point b = link.b == kNone ? middle : place(link.b, machine.gpus.size(), middle);
    hub = hub || link.b == kNone;
    svg.line("link", a.x, a.y, b.x, b.y,
             std::max(1.5, kThickest * static_cast<double>(link.rate) / static_cast<double>(most)));
  }
  if (hub) {
    svg.rectangle("gpu", middle.x - kHubWidth / 2, middle.y - kHubHeight / 2, kHubWidth, kHubHeight, 6);
    svg.text("title", middle.x, middle.y + 5, "switch", true);
  }
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    const Point at = place(static_cast<int>(gpu), machine.gpus.size(), middle);
    svg.circle("gpu", at.x, at.y, kGpuRadius);
    svg.text("title", at.x, at.y + 5, std::to_string(gpu), true);
  }
  return true;
}

}  // namespace strata::topo
