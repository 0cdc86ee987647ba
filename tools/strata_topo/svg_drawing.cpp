#include "tools/strata_topo/svg_drawing.hpp"

#include <algorithm>

#include "tools/strata_topo/svg_layout.hpp"
#include "tools/strata_topo/svg_links.hpp"
#include "tools/strata_topo/svg_writer.hpp"

namespace strata::topo {
namespace {

constexpr double kMargin = 16;

std::string_view look_of(const Box& box) {
  switch (box.kind) {
    case Kind::cluster: return "cluster";
    case Kind::group: return "group";
    case Kind::host: return box.children.empty() ? "host" : "machine";
    case Kind::package: return "package";
    case Kind::numa: return "numa";
    case Kind::l3: return "l3";
    case Kind::pcie_switch: return "switch";
    case Kind::core: return "core";
    case Kind::gpu: return "gpu";
    case Kind::nic: return "nic";
  }
  return "";
}

void draw_words(const Placed& p, double x, double y, SvgWriter& svg) {
  const double middle = x + p.x + p.width / 2, top = y + p.y;
  switch (p.box->kind) {
    case Kind::core: svg.text("small", middle, top + 15, p.box->title, true); return;
    case Kind::gpu:
    case Kind::nic:
      svg.text("title", middle, top + 18, p.box->title, true);
      svg.text("note", middle, top + 33, p.box->note, true);
      return;
    default: break;
  }
  if (p.box->kind == Kind::host && p.box->children.empty())
    return svg.text("small", middle, top + 17, p.box->title, true);
  svg.heading(x + p.x + kPadding, top + 18, p.box->title, p.box->note);
}

void draw(const Placed& p, double x, double y, SvgWriter& svg) {
  svg.rectangle(look_of(*p.box), x + p.x, y + p.y, p.width, p.height, p.children.empty() ? 4 : 8);
  draw_words(p, x, y, svg);
  for (const Placed& child : p.children) draw(child, x, y, svg);
}

}  // namespace

std::string draw_svg(const topology::Topology& topology) {
  const bool cluster = topology.hosts.size() > 1 || !topology.groups.empty();
  const Box cluster_box = cluster ? cluster_diagram(topology) : Box{};
  std::vector<Box> machine_boxes;
  double widest = cluster ? layout(cluster_box).width : 0;
  for (const topology::Machine& machine : topology.machines) {
    machine_boxes.push_back(machine_diagram(machine));
    widest = std::max(widest, layout(machine_boxes.back()).width);
  }
  SvgWriter svg;
  double y = kMargin, width = widest;
  const auto add = [&](const Box& box) {
    const Placed placed = layout(box, widest);
    draw(placed, kMargin, y, svg);
    return placed.height;
  };
  if (cluster) y += add(cluster_box) + kMargin;
  for (std::size_t i = 0; i < machine_boxes.size(); ++i) {
    double height = add(machine_boxes[i]);
    if (draw_gpu_links(topology.machines[i], kMargin + widest + kMargin, y, svg)) {
      width = widest + kMargin + kLinksSize;
      height = std::max(height, kLinksSize);
    }
    y += height + kMargin;
  }
  return svg.document(width + 2 * kMargin, y);
}

}  // namespace strata::topo
