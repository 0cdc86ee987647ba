#include "ccl/topology/cpu_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace strata::topology {
namespace {

// The number that the whole text is; -1: it is none, or too large.
int number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value < kCpusMax ? value : -1;
}

}  // namespace

Expected<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const int first = number(part.substr(0, dash));
    const int last = dash == part.npos ? first : number(part.substr(dash + 1));
    if (first < 0 || last < first)
      return Status(
          ErrorCode::invalid_argument,
          fmt::format("'{}' in '{}' is no CPU and no range of CPUs; write it as in 0-3,8 with numbers "
                      "up to {}",
                      part, text, kCpusMax - 1));
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string format_cpu_list(std::span<const int> cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end > i + 1) text += '-' + std::to_string(cpus[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace strata::topology
