#include "ccl/runtime/place_report.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace strata {
namespace {

// "5:hello": texts may hold anything.
std::string counted(std::string_view text) { return fmt::format("{}:{}", text.size(), text); }

template <class Number>
bool whole_number(std::string_view text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(into) == text;
}

std::optional<std::string> take_counted(std::string_view& rest) {
  const std::size_t colon = rest.find(':');
  std::size_t length = 0;
  if (colon == rest.npos || !whole_number(rest.substr(0, colon), length)) return std::nullopt;
  rest.remove_prefix(colon + 1);
  if (length > rest.size()) return std::nullopt;
  const std::string_view text = rest.substr(0, length);
  rest.remove_prefix(length);
  return std::string(text);
}

}  // namespace

std::string to_text(const PlaceReport& r) {
  std::string text = counted(std::to_string(r.gpu));
  for (const std::string* field : {&r.levels, &r.file, &r.file_error, &r.file_hash, &r.machine_hash})
    text += counted(*field);
  return text;
}

std::optional<PlaceReport> parse_place_report(std::string_view text) {
  PlaceReport r;
  std::string gpu;
  for (std::string* field : {&gpu, &r.levels, &r.file, &r.file_error, &r.file_hash, &r.machine_hash}) {
    auto value = take_counted(text);
    if (!value) return std::nullopt;
    *field = *std::move(value);
  }
  if (!text.empty() || !whole_number(gpu, r.gpu) || r.gpu < topology::kNone) return std::nullopt;
  return r;
}

}  // namespace strata
