#include "tools/strata_topo/text_drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ccl/topology/cpu_list.hpp"
#include "tools/strata_topo/diagram.hpp"
#include "tools/strata_topo/gpu_links.hpp"

namespace strata::topo {
namespace {

using Lines = std::vector<std::string>;

constexpr int kWidthMin = 40;
constexpr int kFrameWidth = 4;
constexpr int kHeadingMax = 34;  // of a title with its note; longer ones put the note below

struct Frame {
  std::string_view top_left, top_right, bottom_left, bottom_right, across, down;
};
constexpr Frame kLines{"┌", "┐", "└", "┘", "─", "│"}, kAscii{"+", "+", "+", "+", "-", "|"};

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string padded(const std::string& text, int width) {
  return text + std::string(static_cast<std::size_t>(std::max(0, width - columns(text))), ' ');
}

// The first so many columns.
std::string cut(const std::string& text, int width) {
  if (columns(text) <= width) return text;
  std::size_t end = 0;
  for (int column = 0; column < width - 2 && end < text.size(); ++column) do
      ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80);
  return text.substr(0, end) + "..";
}

int width_of(const Lines& lines) {
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, columns(line));
  return width;
}

Lines wrapped(const std::vector<std::string>& words, int width) {
  Lines lines;
  for (const std::string& word : words) {
    if (lines.empty() || columns(lines.back()) + 2 + columns(word) > width)
      lines.push_back(cut(word, width));
    else
      lines.back() += "  " + word;
  }
  return lines;
}

bool is_leaf(const Box& box) {
  return box.children.empty() && box.kind != Kind::group && box.kind != Kind::numa;
}

Lines core_lines(const Box& box, int width) {
  std::vector<int> cpus;
  int count = 0;
  for (const Box& child : box.children) {
    if (child.kind != Kind::core) continue;
    const auto own = topology::parse_cpu_list(child.title);
    cpus.insert(cpus.end(), own->begin(), own->end());
    ++count;
  }
  if (count == 0) return {};
  std::sort(cpus.begin(), cpus.end());
  return {cut(fmt::format("{} core{}, CPU {}", count, count == 1 ? "" : "s", topology::format_cpu_list(cpus)),
              width)};
}

Lines device_and_host_lines(const Box& box, int width) {
  Lines lines;
  std::vector<std::string> hosts;
  for (const Box& child : box.children) {
    if (!is_leaf(child) || child.kind == Kind::core) continue;
    if (child.kind == Kind::host)
      hosts.push_back(child.title);
    else
      lines.push_back(cut(fmt::format("{:<7} {}", child.title, child.note), width));
  }
  const Lines names = wrapped(hosts, width);
  lines.insert(lines.end(), names.begin(), names.end());
  return lines;
}

// A box whose lines are known; sizes are without its frame.
struct Measured {
  std::string title;
  Lines first, last;                          // before the rows of boxes, and after them
  std::vector<std::vector<Measured>> rows{};  // side by side as long as they fit
  int width = 0;
  std::size_t height = 0;
};

int width_of(const std::vector<Measured>& row) {
  int width = -1;
  for (const Measured& box : row) width += 1 + box.width + kFrameWidth;
  return width;
}

std::size_t height_of(const std::vector<Measured>& row) {
  std::size_t height = 0;
  for (const Measured& box : row) height = std::max(height, box.height + 2);
  return height;
}

// width: at most so wide within the frame.
Measured measure(const Box& box, int width) {
  Measured m{cut(box.title, width - 2), {}, device_and_host_lines(box, width)};
  const std::string heading = box.note.empty() ? box.title : box.title + "  " + box.note;
  if (columns(heading) <= std::min(width - 2, kHeadingMax))
    m.title = heading;
  else if (!box.note.empty())
    m.first.push_back(cut(box.note, width));
  for (const std::string& line : core_lines(box, width)) m.first.push_back(line);
  for (const Box& child : box.children) {
    if (is_leaf(child)) continue;
    Measured inner = measure(child, width - kFrameWidth);
    if (m.rows.empty() || width_of(m.rows.back()) + 1 + inner.width + kFrameWidth > width)
      m.rows.emplace_back();
    m.rows.back().push_back(std::move(inner));
  }
  m.width = std::max({width_of(m.first), width_of(m.last), columns(m.title) + 1});
  m.height = m.first.size() + m.last.size();
  for (const auto& row : m.rows) {
    m.width = std::max(m.width, width_of(row));
    m.height += height_of(row);
  }
  return m;
}

class Drawing final {
 public:
  explicit Drawing(bool ascii) : frame_(ascii ? kAscii : kLines), ascii_(ascii) {}

  Lines box(const Measured& m, int width, std::size_t height) const {
    Lines lines = m.first;
    for (const auto& row : m.rows) add_row(row, width, lines);
    lines.insert(lines.end(), m.last.begin(), m.last.end());
    lines.resize(std::max(height, lines.size()));
    for (std::string& line : lines) line = fmt::format("{0} {1} {0}", frame_.down, padded(line, width));
    const std::string title = ascii_ ? without_dots(m.title) : m.title;
    lines.insert(lines.begin(),
                 fmt::format("{}{} {} {}{}", frame_.top_left, frame_.across, title,
                             repeated(frame_.across, width - columns(title) - 1), frame_.top_right));
    lines.push_back(
        fmt::format("{}{}{}", frame_.bottom_left, repeated(frame_.across, width + 2), frame_.bottom_right));
    return lines;
  }

 private:
  // What is left of the width goes to all of them, so that edges are in line.
  void add_row(const std::vector<Measured>& row, int width, Lines& lines) const {
    Lines together(height_of(row));
    const int left = width - width_of(row), count = static_cast<int>(row.size());
    for (int i = 0; i < count; ++i) {
      const Measured& m = row[static_cast<std::size_t>(i)];
      const int extra = left * (i + 1) / count - left * i / count;
      const Lines block = box(m, m.width + extra, together.size() - 2);
      for (std::size_t l = 0; l < block.size(); ++l) together[l] += (i == 0 ? "" : " ") + block[l];
    }
    lines.insert(lines.end(), together.begin(), together.end());
  }

  static std::string without_dots(std::string title) {
    constexpr std::string_view kDot = "·";
    for (std::size_t at; (at = title.find(kDot)) != title.npos;) title.replace(at, kDot.size(), "-");
    return title;
  }

  const Frame& frame_;
  const bool ascii_;
};

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

int columns(const std::string& text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string draw_text(const topology::Topology& topology, const TextStyle& style) {
  const Drawing drawing(style.ascii);
  const auto drawn = [&](const Box& box) {
    const Measured m = measure(box, std::max(style.width, kWidthMin) - kFrameWidth);
    return text_of(drawing.box(m, m.width, m.height));
  };
  std::string text;
  if (topology.hosts.size() > 1 || !topology.groups.empty()) text += drawn(cluster_diagram(topology));
  for (const topology::Machine& machine : topology.machines) {
    if (!text.empty()) text += "\n";
    text += drawn(machine_diagram(machine));
    text += describe_gpu_links(machine);
  }
  return text;
}

}  // namespace strata::topo
