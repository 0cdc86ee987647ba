// Descriptors as text: fields one after the other, none of which contains the separator.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

std::string join_fields(std::span<const std::string> fields);
std::vector<std::string> split_fields(std::string_view text);  // at least one

}  // namespace strata
