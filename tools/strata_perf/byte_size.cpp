#include "tools/strata_perf/byte_size.hpp"

#include <array>
#include <cctype>
#include <charconv>

namespace strata::perf {
namespace {

constexpr double kBytesMax = 0x1p62;
constexpr std::string_view kUnits = "KMGT";

int shift_of_unit(char unit) {
  const std::size_t at = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit))));
  return at == std::string_view::npos ? -1 : 10 * static_cast<int>(at + 1);
}

}  // namespace

std::optional<std::uint64_t> parse_byte_size(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.size() > 1 && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  if (unit == "B" || unit == "b") unit = {};
  if (unit.size() > 1) return std::nullopt;
  const int shift = unit.empty() ? 0 : shift_of_unit(unit[0]);
  const double bytes = number * static_cast<double>(1ull << (shift < 0 ? 0 : shift));
  if (shift < 0 || !(bytes >= 0) || bytes > kBytesMax) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::string format_byte_size(std::uint64_t bytes) {
  for (int unit = static_cast<int>(kUnits.size()); unit > 0; --unit)
    if (bytes != 0 && bytes % (1ull << (10 * unit)) == 0)
      return std::to_string(bytes >> (10 * unit)) + kUnits[static_cast<std::size_t>(unit) - 1];
  return std::to_string(bytes);
}

}  // namespace strata::perf
