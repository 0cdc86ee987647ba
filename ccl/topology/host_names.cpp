#include "ccl/topology/host_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace strata::topology {
namespace {

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Expected<std::vector<std::string>> expand_names(std::string_view pattern) {
  const std::size_t open = pattern.find('['), close = pattern.find(']');
  const auto wrong = [&](std::string_view part) {
    return Status(
        ErrorCode::invalid_argument,
        fmt::format("'{}' in '{}' is no range of numbers; write it as in node[00-15] or node[0-3,7]", part,
                    pattern));
  };
  if (open == pattern.npos && close == pattern.npos) return std::vector<std::string>{std::string(pattern)};
  if (open == pattern.npos || close == pattern.npos || close < open ||
      pattern.find_first_of("[]", close + 1) != pattern.npos || pattern.find('[', open + 1) < close)
    return wrong(pattern.substr(std::min(open, close)));
  std::vector<std::string> names;
  for (std::string_view rest = pattern.substr(open + 1, close - open - 1);;) {
    const std::string_view range = rest.substr(0, rest.find(','));
    const std::string_view from = range.substr(0, range.find('-'));
    const auto first = number(from);
    const auto last = from.size() == range.size() ? first : number(range.substr(from.size() + 1));
    if (!first || !last || *last < *first || *last - *first >= kHostsMax || names.size() > kHostsMax)
      return wrong(range);
    for (unsigned i = *first; i <= *last; ++i)
      names.push_back(
          fmt::format("{}{:0{}}{}", pattern.substr(0, open), i, from.size(), pattern.substr(close + 1)));
    if (range.size() == rest.size()) return names;
    rest.remove_prefix(range.size() + 1);
  }
}

}  // namespace strata::topology
