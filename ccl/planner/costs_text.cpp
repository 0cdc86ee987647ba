#include "ccl/planner/costs_text.hpp"

#include <fmt/format.h>

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
std::string line(std::string_view name, Cost cost) {
  std::string text(name);
  for (const Picoseconds* number : numbers(cost)) text += fmt::format(" {}", *number);
  return text + "\n";
}

std::string_view next(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

bool read_numbers(std::string_view words, const std::vector<Picoseconds*>& into) {
  for (Picoseconds* number : into) {
    const std::string_view word = next(words, ' ');
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
    if (error != std::errc{} || end != word.data() + word.size()) return false;
    if (*number < 0 || *number > kNumberMax) return false;
  }
  return words.empty();
}

std::optional<LinkKind> kind_named(std::string_view name) {
  for (int k = 0; k < kLinkKinds; ++k)
    if (name == to_string(static_cast<LinkKind>(k))) return static_cast<LinkKind>(k);
  return std::nullopt;
}

bool add_line(std::string_view words, MeasuredCosts& into) {
  if (words.ends_with(' ')) return false;
  const std::string_view name = next(words, ' ');
  if (name == kLocal) {
    into.local = true;
    return read_numbers(words, numbers(into.costs.local));
  }
  const auto kind = kind_named(name);
  if (!kind) return false;
  LinkCost cost = into.costs.of(*kind);
  if (!read_numbers(words, numbers(cost))) return false;
  into.set(*kind, cost);
  return true;
}

}  // namespace

std::string to_text(const MeasuredCosts& measured) {
  std::string text;
  for (int k = 0; k < kLinkKinds; ++k)
    if (const auto kind = static_cast<LinkKind>(k); measured.has(kind))
      text += line(to_string(kind), measured.costs.of(kind));
  return measured.local ? text + line(kLocal, measured.costs.local) : text;
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
