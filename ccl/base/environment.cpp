#include "ccl/base/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "ccl/base/check.hpp"
#include "ccl/base/nearest.hpp"

namespace strata {
namespace {

using Kind = Variable::Kind;
constexpr std::string_view kPrefix = "STRATA_";

const Variable& known(std::string_view name) {
  const auto all = known_variables();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Variable& v) { return v.name == name; });
  STRATA_CHECK(at != all.end(), name);
  return *at;
}

std::string form_of(const Variable& variable) {
  switch (variable.kind) {
    case Kind::number: return fmt::format("a whole number from {} to {}", variable.min, variable.max);
    case Kind::flag: return "0 or 1 (also false, true, no, yes, off, on)";
    case Kind::choice: return fmt::format("one of {}", variable.form);
    case Kind::text: break;
  }
  return std::string(variable.form);
}

Status bad_value(const Variable& variable, std::string_view value) {
  return {ErrorCode::invalid_argument, fmt::format("the environment variable {} is \"{}\"; it must be {}",
                                                   variable.name, value, form_of(variable))};
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_choice(std::string_view words, std::string_view value) {
  while (!words.empty()) {
    const std::size_t bar = std::min(words.find('|'), words.size());
    if (words.substr(0, bar) == value) return true;
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return false;
}

}  // namespace

std::string describe_variables() {
  std::string text;
  for (const Variable& v : known_variables())
    text += fmt::format("  {:<26} {}\n  {:<26}   {}\n", v.name, v.description, "", form_of(v));
  return text;
}

Environment Environment::of_process() {
  std::vector<std::string> assignments;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
    assignments.emplace_back(*entry);
  return Environment(assignments);
}

Environment::Environment(std::span<const std::string> assignments) {
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) continue;
    values_.insert_or_assign(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
}

Status Environment::check_names() const {
  std::vector<std::string_view> names;
  for (const Variable& v : known_variables())
    if (v.name.starts_with(kPrefix)) names.push_back(v.name);
  for (auto at = values_.lower_bound(kPrefix); at != values_.end() && at->first.starts_with(kPrefix); ++at) {
    if (std::find(names.begin(), names.end(), at->first) != names.end()) continue;
    return {
        ErrorCode::invalid_argument,
        fmt::format("the environment variable {} does not exist in Strata; did you mean {}? "
                    "(strata-run --help-environment lists them all; unset it if it is not meant for Strata)",
                    at->first, nearest(at->first, names))};
  }
  return {};
}

std::vector<std::string> Environment::assignments() const {
  std::vector<std::string> all;
  for (const auto& [name, value] : values_) all.push_back(name + "=" + value);
  return all;
}

std::string_view Environment::text(std::string_view name) const {
  known(name);
  const auto at = values_.find(name);
  return at == values_.end() ? std::string_view{} : std::string_view{at->second};
}

Status Environment::read(std::string_view name, std::string& into) const {
  const std::string_view value = text(name);
  if (value.empty()) return {};
  const Variable& variable = known(name);
  if (variable.kind == Kind::choice && !is_choice(variable.form, value)) return bad_value(variable, value);
  into = value;
  return {};
}

Status Environment::read_number(std::string_view name, std::int64_t& into) const {
  const std::string_view value = text(name);
  if (value.empty()) return {};
  const Variable& variable = known(name);
  const auto number = parse<std::int64_t>(value);
  if (!number || *number < variable.min || *number > variable.max) return bad_value(variable, value);
  into = *number;
  return {};
}

Status Environment::read(std::string_view name, int& into) const {
  std::int64_t wide = into;
  Status status = read_number(name, wide);
  into = static_cast<int>(wide);
  return status;
}

Status Environment::read(std::string_view name, std::uint32_t& into) const {
  std::int64_t wide = into;
  Status status = read_number(name, wide);
  into = static_cast<std::uint32_t>(wide);
  return status;
}

Status Environment::read(std::string_view name, bool& into) const {
  const std::string_view value = text(name);
  if (value.empty()) return {};
  const bool yes = is_choice("1|true|yes|on", value);
  if (!yes && !is_choice("0|false|no|off", value)) return bad_value(known(name), value);
  into = yes;
  return {};
}

Status Environment::read_port_range(std::string_view name, std::uint16_t& min, std::uint16_t& max) const {
  const std::string_view value = text(name);
  if (value.empty()) return {};
  const std::size_t dash = value.find('-');
  const auto first = parse<std::uint16_t>(value.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse<std::uint16_t>(value.substr(dash + 1));
  if (!first || !last || *first == 0 || *first > *last) return bad_value(known(name), value);
  min = *first, max = *last;
  return {};
}

}  // namespace strata
