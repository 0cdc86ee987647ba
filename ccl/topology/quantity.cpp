#include "ccl/topology/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace strata::topology {
namespace {

constexpr std::uint64_t kKilo = 1000, kMega = 1000 * kKilo, kGiga = 1000 * kMega, kTera = 1000 * kGiga;
constexpr int kDecimalsMax = 9;

// Units that are written come first, those that are only read after them.
constexpr Unit kRates[] = {{"b/s", 1},          {"kb/s", kKilo},     {"Mb/s", kMega},
                           {"Gb/s", kGiga},     {"Tb/s", kTera},     {"kB/s", 8 * kKilo},
                           {"MB/s", 8 * kMega}, {"GB/s", 8 * kGiga}, {"TB/s", 8 * kTera}};
constexpr Unit kSizes[] = {
    {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1ULL << 40}};
constexpr Unit kTimes[] = {{"ps", 1}, {"ns", kKilo}, {"us", kMega}, {"ms", kGiga}, {"s", kTera}};

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> times(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

// digits/10^places units, if that is whole.
std::optional<std::uint64_t> fraction(std::string_view digits, std::uint64_t unit) {
  if (digits.size() > kDecimalsMax) return std::nullopt;
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
  const auto value = number(digits);
  const auto product = value ? times(*value, unit) : std::nullopt;
  return product && *product % scale == 0 ? std::optional(*product / scale) : std::nullopt;
}

}  // namespace

std::span<const Unit> rate_units() { return kRates; }
std::span<const Unit> size_units() { return kSizes; }
std::span<const Unit> time_units() { return kTimes; }

std::optional<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string_view name = text.substr(digits);
  if (name.starts_with(' ')) name.remove_prefix(1);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == units.end()) return std::nullopt;
  const std::string_view figure = text.substr(0, digits);
  const std::size_t point = figure.find('.');
  const auto whole = number(figure.substr(0, point));
  const auto units_of_whole = whole ? times(*whole, unit->size) : std::nullopt;
  if (!units_of_whole || point == figure.npos) return units_of_whole;
  const auto rest = fraction(figure.substr(point + 1), unit->size);
  if (!rest || *units_of_whole > std::numeric_limits<std::uint64_t>::max() - *rest) return std::nullopt;
  return *units_of_whole + *rest;
}

std::string format_quantity(std::uint64_t value, std::span<const Unit> units) {
  Unit best = units[0];
  for (const Unit& unit : units.first(5))
    if (value > 0 && value % unit.size == 0) best = unit;
  return fmt::format("{} {}", value / best.size, best.name);
}

std::string rounded_rate(std::uint64_t bits_per_second) {
  Unit best = kRates[0];
  for (const Unit& unit : rate_units().first(5))
    if (bits_per_second >= unit.size) best = unit;
  return fmt::format("{:.3g} {}", static_cast<double>(bits_per_second) / static_cast<double>(best.size),
                     best.name);
}

}  // namespace strata::topology
