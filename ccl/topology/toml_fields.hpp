// Reading the tables of a TOML file field by field; the first mistake is kept, with its line.
#pragma once
#include <fmt/format.h>
#include <toml++/toml.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/topology/quantity.hpp"
#include "ccl/topology/topology.hpp"
#include "strata/status.hpp"

namespace strata::topology {

// One file. After a mistake everything reads as if it were missing.
class Toml final {
 public:
  explicit Toml(std::string path) : path_(std::move(path)) {}
  void fail(const toml::source_region& where, const std::string& what);
  void fail(const toml::node& node, const std::string& what) { fail(node.source(), what); }
  const Status& status() const { return status_; }

 private:
  std::string path_;
  Status status_;
};

// One table. A key that is asked for and missing gives the value of "not known", unless it is required.
class Fields final {
 public:
  // what: for messages, "[[host]]". Keys other than the known ones are a mistake.
  Fields(Toml& file, const toml::table& table, std::string what,
         std::initializer_list<std::string_view> known);

  std::string text(std::string_view key);
  std::string required_text(std::string_view key);
  int integer(std::string_view key, int min, int max, int otherwise);
  // Of something in a list of so many.
  int index(std::string_view key, std::size_t count) {
    return integer(key, 0, static_cast<int>(count) - 1, kNone);
  }
  // Which of the names the text is; kNone: the key is missing. list: what the names are of, "[[machine]]".
  int reference(std::string_view key, std::span<const std::string> names, std::string_view list);
  std::uint64_t quantity(std::string_view key, std::span<const Unit> units);  // above 0; 0: missing
  double oversubscription();
  std::vector<std::string> texts(std::string_view key);
  std::vector<const toml::table*> tables(std::string_view key);

  void fail(std::string_view key, const std::string& what);  // at the key's line

 private:
  void wrong_value(std::string_view key, std::string_view must);
  template <class Item>
  std::vector<Item> items(std::string_view key, std::string_view must, Item (*take)(const toml::node&));

  Toml& file_;
  const toml::table& table_;
  const std::string what_;
};

// "; did you mean 'x'?", or the list of what there is where nothing is near.
std::string suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace strata::topology
