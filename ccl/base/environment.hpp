// The one reader of the environment: which variables there are, what they may be, and what they are now.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/status.hpp"

namespace strata {

// No job may have more ranks. A limit on input, far above what has been tried.
inline constexpr int kRanksMax = 65'536;

struct Variable {
  enum class Kind : std::uint8_t { text, number, flag, choice };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view form;          // what it may be, for people; of a choice: the words, separated by '|'
  std::string_view description;   // one line
  std::int64_t min = 0, max = 0;  // of a number
};
// Every variable Strata looks at. Those without STRATA_ are set by launchers.
std::span<const Variable> known_variables();
// The same as lines of text, for --help-environment.
std::string describe_variables();

// What the variables are at one moment. An empty value counts as absent.
class Environment final {
 public:
  static Environment of_process();
  explicit Environment(std::span<const std::string> assignments);  // "NAME=value"

  // Error: a STRATA_ variable that does not exist; names the nearest one that does.
  Status check_names() const;
  std::vector<std::string> assignments() const;  // all of it, "NAME=value", in the order of names
  bool has(std::string_view name) const { return !text(name).empty(); }
  std::string_view text(std::string_view name) const;  // empty: absent. Valid as long as this object.

  // Each leaves `into` as it is when the variable is absent. Error: names the variable, its value and its
  // form.
  Status read(std::string_view name, std::string& into) const;
  Status read(std::string_view name, int& into) const;
  Status read(std::string_view name, std::uint32_t& into) const;
  Status read(std::string_view name, bool& into) const;
  // "a-b" or "a": ports from 1 to 65535, in order.
  Status read_port_range(std::string_view name, std::uint16_t& min, std::uint16_t& max) const;

 private:
  Status read_number(std::string_view name, std::int64_t& into) const;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace strata
