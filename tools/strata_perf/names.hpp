// The names of types and operations: ours, and those that nccl-tests' users know.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "strata/types.hpp"

namespace strata::perf {

// As nccl-tests prints them: "float", "half", "prod", ...
std::string_view column_name(DataType type);
std::string_view column_name(ReduceOp op);

// By either name.
std::optional<DataType> find_type(std::string_view name);
std::optional<ReduceOp> find_op(std::string_view name);

// For messages and help: "int8, uint8, ..., float (float32), ...".
std::string type_choices();
std::string op_choices();

}  // namespace strata::perf
