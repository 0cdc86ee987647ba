#include "ccl/transport/descriptor_fields.hpp"

#include "ccl/base/check.hpp"

namespace strata {
namespace {

constexpr char kSeparator = '\n';

}  // namespace

std::string join_fields(std::span<const std::string> fields) {
  std::string text;
  for (const std::string& field : fields) {
    STRATA_CHECK(field.find(kSeparator) == std::string::npos, field);
    if (&field != &fields.front()) text += kSeparator;
    text += field;
  }
  return text;
}

std::vector<std::string> split_fields(std::string_view text) {
  std::vector<std::string> fields;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(kSeparator, at);
    fields.emplace_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return fields;
    at = end + 1;
  }
}

}  // namespace strata
