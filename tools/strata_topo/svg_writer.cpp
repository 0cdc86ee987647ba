#include "tools/strata_topo/svg_writer.hpp"

#include <fmt/format.h>

#include <iterator>

namespace strata::topo {
namespace {

constexpr std::string_view kStyle = R"(
  text { font-family: "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; fill: #1e293b }
  .title { font-size: 13px; font-weight: 600 }
  .note { font-size: 11px; font-weight: 400; fill: #64748b }
  .small { font-size: 11px }
  .cluster, .machine { fill: #ffffff; stroke: #475569; stroke-width: 1.5 }
  .group { fill: #f8fafc; stroke: #94a3b8 }
  .host { fill: #ffffff; stroke: #64748b }
  .package { fill: #f1f5f9; stroke: #94a3b8 }
  .numa { fill: #eef2ff; stroke: #a5b4fc }
  .l3 { fill: #e0f2fe; stroke: #7dd3fc }
  .core { fill: #ffffff; stroke: #38bdf8 }
  .switch { fill: #fafaf9; stroke: #a8a29e; stroke-dasharray: 4 3 }
  .gpu { fill: #dcfce7; stroke: #22c55e }
  .nic { fill: #ffedd5; stroke: #fb923c }
  .link { stroke: #22c55e; stroke-opacity: 0.55; stroke-linecap: round }
)";

// Text within an element. Bytes that XML forbids become question marks.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return safe;
}

}  // namespace

void SvgWriter::rectangle(std::string_view look, double x, double y, double width, double height,
                          double radius) {
  fmt::format_to(
      std::back_inserter(body_),
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.0f}\"/>\n",
      look, x, y, width, height, radius);
}

void SvgWriter::text(std::string_view look, double x, double y, const std::string& text, bool middle) {
  fmt::format_to(std::back_inserter(body_), "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n",
                 look, x, y, middle ? " text-anchor=\"middle\"" : "", escaped(text));
}

void SvgWriter::heading(double x, double y, const std::string& title, const std::string& note) {
  fmt::format_to(
      std::back_inserter(body_),
      "<text class=\"title\" x=\"{:.1f}\" y=\"{:.1f}\">{}<tspan class=\"note\" dx=\"8\">{}</tspan></text>\n",
      x, y, escaped(title), escaped(note));
}

void SvgWriter::line(std::string_view look, double x1, double y1, double x2, double y2, double thickness) {
  fmt::format_to(std::back_inserter(body_),
                 "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
                 "stroke-width=\"{:.1f}\"/>\n",
                 look, x1, y1, x2, y2, thickness);
}

void SvgWriter::circle(std::string_view look, double x, double y, double radius) {
  fmt::format_to(std::back_inserter(body_),
                 "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n", look, x, y, radius);
}

std::string SvgWriter::document(double width, double height) const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<style>{2}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      width, height, kStyle, body_);
}

}  // namespace strata::topo
