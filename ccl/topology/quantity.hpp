// Rates, sizes and times as text: "100 Gb/s", "16 MiB", "1.5 us".
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata::topology {

struct Unit {
  std::string_view name;
  std::uint64_t size;  // how many of the smallest
};

// The first is the smallest; names that come twice over, as Gb/s and GB/s, are for reading.
std::span<const Unit> rate_units();  // bits a second
std::span<const Unit> size_units();  // bytes
std::span<const Unit> time_units();  // picoseconds

// A number with at most 9 places behind the point, and a unit; a blank between them or not. nullopt: it is
// none, or not a whole number of the smallest unit, or too large.
std::optional<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units);

// In the largest unit that leaves a whole number, so that nothing is lost.
std::string format_quantity(std::uint64_t value, std::span<const Unit> units);

// For people: at most three digits and a unit of thousands, "2.4 Tb/s".
std::string rounded_rate(std::uint64_t bits_per_second);

}  // namespace strata::topology
