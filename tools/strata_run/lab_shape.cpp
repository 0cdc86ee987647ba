#include "tools/strata_run/lab_shape.hpp"

#include <fmt/format.h>

#include <charconv>

namespace strata::run {
namespace {

constexpr int kHostsMax = 16;         // of tools/lab
constexpr int kRanksOfAHostMax = 99;  // more than any machine would emulate well

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

int number_in(std::string_view text, int max) {  // 0: it is none, or out of range
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 1 && number <= max ? number : 0;
}

// Empty: it is neither of the forms.
std::vector<int> ranks_in(std::string_view text) {
  if (const std::size_t x = text.find('x'); x != std::string_view::npos) {
    const int hosts = number_in(text.substr(0, x), kHostsMax);
    const int ranks = number_in(text.substr(x + 1), kRanksOfAHostMax);
    return ranks == 0 ? std::vector<int>() : std::vector<int>(static_cast<std::size_t>(hosts), ranks);
  }
  std::vector<int> ranks;
  for (const std::string& part : split(text, '+')) ranks.push_back(number_in(part, kRanksOfAHostMax));
  for (const int r : ranks)
    if (r == 0) return {};
  return ranks.size() <= kHostsMax ? ranks : std::vector<int>();
}

Status wrong(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid_argument, fmt::format("--lab {}: {}", text, why)};
}

}  // namespace

Expected<LabShape> parse_lab_shape(std::string_view text) {
  const std::size_t at = text.find('@');
  LabShape shape{ranks_in(text.substr(0, at)), {}};
  const std::size_t hosts = shape.ranks.size();
  if (hosts == 0)
    return wrong(text,
                 fmt::format("'{}' is neither HOSTSxRANKS, as in 2x4, nor the ranks of each host, as in 3+5; "
                             "hosts are from 1 to {}, ranks of each from 1 to {}",
                             text.substr(0, at), kHostsMax, kRanksOfAHostMax));
  if (at == std::string_view::npos) return shape;
  for (const std::string& host : split(text.substr(at + 1), ',')) shape.rates.push_back(split(host, ':'));
  if (shape.rates.size() == 1) shape.rates.resize(hosts, shape.rates[0]);
  if (shape.rates.size() != hosts)
    return wrong(text,
                 fmt::format("there are {} hosts and rates for {}; give one for all, as in 2x4@1gbit, or one "
                             "for each, as in 2x4@1gbit,250mbit",
                             hosts, shape.rates.size()));
  for (const auto& rails : shape.rates)
    if (rails.size() != shape.rates[0].size())
      return wrong(text,
                   fmt::format("the first host has {} rails and another {}; give every host as many, as in "
                               "2x4@1gbit:1gbit,1gbit:250mbit",
                               shape.rates[0].size(), rails.size()));
  return shape;
}

}  // namespace strata::run
