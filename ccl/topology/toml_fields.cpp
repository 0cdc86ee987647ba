#include "ccl/topology/toml_fields.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "ccl/base/nearest.hpp"

namespace strata::topology {
namespace {

// A value as the user wrote it, near enough, on one line.
std::string text_of(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  std::string text = out.str();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

}  // namespace

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  if (names.empty()) return "there is none; add it";
  return fmt::format("did you mean '{}'?", nearest(word, names));
}

void Toml::fail(const toml::source_region& where, const std::string& what) {
  if (status_.ok())
    status_ = Status(ErrorCode::invalid_argument, fmt::format("{}:{}: {}", path_, where.begin.line, what));
}

Fields::Fields(Toml& file, const toml::table& table, std::string what,
               std::initializer_list<std::string_view> known)
    : file_(file), table_(table), what_(std::move(what)) {
  for (const auto& [key, node] : table)
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      const std::vector<std::string_view> names(known);
      file_.fail(key.source(),
                 fmt::format("there is no key '{}' in {}; did you mean '{}'? There are: {}", key.str(), what_,
                             nearest(key.str(), names), fmt::join(names, ", ")));
    }
}

void Fields::fail(std::string_view key, const std::string& what) {
  const toml::node* node = table_.get(key);
  file_.fail(node != nullptr ? node->source() : table_.source(), fmt::format("{}: {}", what_, what));
}

void Fields::wrong_value(std::string_view key, std::string_view must) {
  fail(key, fmt::format("{} = {}: must be {}", key, text_of(*table_.get(key)), must));
}

std::string Fields::text(std::string_view key) {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  if (const auto* text = node->as_string(); text != nullptr && !text->get().empty()) return text->get();
  wrong_value(key, "text in quotes");
  return {};
}

std::string Fields::required_text(std::string_view key) {
  if (!table_.contains(key)) fail(key, fmt::format("{} is missing; add {} = \"...\"", key, key));
  return text(key);
}

int Fields::integer(std::string_view key, int min, int max, int otherwise) {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return otherwise;
  const auto* integer = node->as_integer();
  if (integer != nullptr && integer->get() >= min && integer->get() <= max)
    return static_cast<int>(integer->get());
  wrong_value(key, max < min ? "left out: there is nothing to choose from"
                             : fmt::format("a whole number from {} to {}", min, max));
  return otherwise;
}

int Fields::reference(std::string_view key, std::span<const std::string> names, std::string_view list) {
  const std::string name = text(key);
  if (name.empty()) return kNone;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  fail(key,
       fmt::format("{} = '{}': there is no {} of that name; {}", key, name, list, suggestion(name, names)));
  return kNone;
}

std::uint64_t Fields::quantity(std::string_view key, std::span<const Unit> units) {
  if (!table_.contains(key)) return 0;
  const auto value = parse_quantity(text(key), units);
  // TOML's own numbers end at 2^63, and no rate or size comes near.
  if (value && *value > 0 && *value <= std::uint64_t{1} << 62) return *value;
  std::vector<std::string_view> names;
  for (const Unit& unit : units) names.push_back(unit.name);
  wrong_value(
      key,
      fmt::format("text with a number above 0 and a unit ({}), as in \"100 {}\"; leave it out if it is not "
                  "known",
                  fmt::join(names, ", "), units[std::min<std::size_t>(3, units.size() - 1)].name));
  return 0;
}

double Fields::oversubscription() {
  constexpr std::string_view kKey = "oversubscription";
  const toml::node* node = table_.get(kKey);
  if (node == nullptr) return 1;
  const double value = node->value<double>().value_or(0);
  if (node->is_number() && std::isfinite(value) && value >= 1) return value;
  wrong_value(kKey, "a number of 1 (all may send at once) or more");
  return 1;
}

template <class Item>
std::vector<Item> Fields::items(std::string_view key, std::string_view must,
                                Item (*take)(const toml::node&)) {
  std::vector<Item> all;
  const toml::node* node = table_.get(key);
  if (node == nullptr) return all;
  const toml::array* array = node->as_array();
  if (array == nullptr) wrong_value(key, must);
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const toml::node& item = *array->get(i);
    if (item.is_string() == std::is_same_v<Item, std::string> && (item.is_string() || item.is_table()))
      all.push_back(take(item));
    else
      file_.fail(item, fmt::format("{}: {} has {}: must be {}", what_, key, text_of(item), must));
  }
  return all;
}

std::vector<std::string> Fields::texts(std::string_view key) {
  return items<std::string>(key, "a list of texts in quotes",
                            [](const toml::node& n) { return n.as_string()->get(); });
}

std::vector<const toml::table*> Fields::tables(std::string_view key) {
  return items<const toml::table*>(key, "a list of tables", [](const toml::node& n) { return n.as_table(); });
}

}  // namespace strata::topology
