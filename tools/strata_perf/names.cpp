#include "tools/strata_perf/names.hpp"

#include <array>

namespace strata::perf {
namespace {

constexpr std::array<std::string_view, kDataTypes> kTypes = {"int8",  "uint8",  "int32",  "uint32",
                                                             "int64", "uint64", "half",   "bfloat16",
                                                             "float", "double", "f8e4m3", "f8e5m2"};
constexpr std::array<std::string_view, kReduceOps> kOps = {"sum",  "prod", "min",  "max",   "avg",
                                                           "band", "bor",  "bxor", "mulsum"};

template <class Enum, std::size_t kCount>
std::optional<Enum> find(const std::array<std::string_view, kCount>& columns, std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (name == columns[i] || name == to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
  return std::nullopt;
}

template <class Enum, std::size_t kCount>
std::string choices(const std::array<std::string_view, kCount>& columns) {
  std::string text;
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::string_view ours = to_string(static_cast<Enum>(i));
    text += (i ? ", " : "") + std::string(columns[i]);
    if (ours != columns[i]) text += " (" + std::string(ours) + ")";
  }
  return text + ", all";
}

}  // namespace

std::string_view column_name(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }
std::string_view column_name(ReduceOp op) { return kOps[static_cast<std::size_t>(op)]; }
std::optional<DataType> find_type(std::string_view name) { return find<DataType>(kTypes, name); }
std::optional<ReduceOp> find_op(std::string_view name) { return find<ReduceOp>(kOps, name); }
std::string type_choices() { return choices<DataType>(kTypes); }
std::string op_choices() { return choices<ReduceOp>(kOps); }

}  // namespace strata::perf
