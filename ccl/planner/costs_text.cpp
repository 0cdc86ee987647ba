#include "ccl/planner/costs_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace strata {
namespace {

constexpr std::string_view kLocal = "local";
constexpr Picoseconds kNumberMax = 1'000'000'000'000;  // a second; a second a KiB

// The numbers that a line holds, in its order. What belongs to the protocol or was fitted is not among them.
std::vector<Picoseconds*> numbers(LinkCost& c) {
  return {&c.send_ps,         &c.recv_ps,         &c.latency_ps, &c.send_ps_per_kib,
          &c.recv_ps_per_kib, &c.wire_ps_per_kib, &c.turn_ps};
}
std::vector<Picoseconds*> numbers(LocalCost& c) { return {&c.copy_ps_per_kib, &c.reduce_ps_per_kib}; }

template <class Cost>
std::string line(std::string_view name, Cost cost, std::string_view level) {
  std::string text(name);
  for (const Picoseconds* number : numbers(cost)) text += fmt::format(" {}", *number);
  return level.empty() ? text + "\n" : fmt::format("{} {}\n", text, level);
}

std::string_view next(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

bool read_numbers(std::string_view& words, const std::vector<Picoseconds*>& into) {
  for (Picoseconds* number : into) {
    const std::string_view word = next(words, ' ');
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
    if (error != std::errc{} || end != word.data() + word.size()) return false;
    if (*number < 0 || *number > kNumberMax) return false;
  }
  return true;
}

bool is_name(std::string_view level) {
  return !level.empty() && std::all_of(level.begin(), level.end(), [](unsigned char c) { return c >= ' '; });
}

std::optional<LinkKind> kind_named(std::string_view name) {
  for (int k = 0; k < kLinkKinds; ++k)
    if (name == to_string(static_cast<LinkKind>(k))) return static_cast<LinkKind>(k);
  return std::nullopt;
}

bool add_line(std::string_view words, MeasuredCosts& into) {
  const std::string_view name = next(words, ' ');
  if (name == kLocal) {
    into.local = true;
    return !words.ends_with(' ') && read_numbers(words, numbers(into.local_cost)) && words.empty();
  }
  const auto kind = kind_named(name);
  if (!kind) return false;
  LinkCost cost = default_costs().of(*kind);
  if (!read_numbers(words, numbers(cost)) || !is_name(words)) return false;
  into.set(words, *kind, cost);
  return true;
}

}  // namespace

const LinkCost* MeasuredCosts::find(std::string_view level, LinkKind kind) const {
  const auto found = std::find_if(links.begin(), links.end(),
                                  [&](const Link& l) { return l.level == level && l.kind == kind; });
  return found == links.end() ? nullptr : &found->cost;
}

void MeasuredCosts::set(std::string_view level, LinkKind kind, const LinkCost& cost) {
  std::erase_if(links, [&](const Link& l) { return l.level == level && l.kind == kind; });
  links.push_back({std::string(level), kind, cost});
}

std::string to_text(const MeasuredCosts& measured) {
  std::string text;
  for (const MeasuredCosts::Link& link : measured.links)
    text += line(to_string(link.kind), link.cost, link.level);
  return measured.local ? text + line(kLocal, measured.local_cost, {}) : text;
}

bool add_text(std::string_view text, MeasuredCosts& into) {
  if (!text.empty() && text.back() != '\n') return false;  // cut short
  MeasuredCosts all = into;
  while (!text.empty())
    if (!add_line(next(text, '\n'), all)) return false;
  into = all;
  return true;
}

}  // namespace strata
