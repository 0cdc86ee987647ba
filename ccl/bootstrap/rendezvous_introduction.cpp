#include "ccl/bootstrap/rendezvous_introduction.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "ccl/base/environment.hpp"
#include "ccl/base/host.hpp"
#include "ccl/bootstrap/rendezvous_messages.hpp"

namespace strata::rendezvous {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kTextBytesMax = 255;
// Deep nesting would exhaust the stack of a recursive reader; an introduction has none.
constexpr int kDepthMax = 1;

bool read_text(const Json& object, const char* field, std::string& into) {
  const auto at = object.find(field);
  if (at == object.end() || !at->is_string()) return false;
  const auto& text = at->get_ref<const std::string&>();
  if (text.empty() || text.size() > kTextBytesMax) return false;
  into = printable(text);
  return true;
}

template <class Number>
bool read_number(const Json& object, const char* field, std::int64_t min, std::int64_t max, Number& into) {
  const auto at = object.find(field);
  if (at == object.end() || !at->is_number_integer()) return false;
  // Unsigned values above the range of int64 turn negative here, and are refused.
  const auto number = at->get<std::int64_t>();
  if (number < min || number > max) return false;
  into = static_cast<Number>(number);
  return true;
}

Status bad_field(const char* field) {
  return {ErrorCode::mismatch,
          fmt::format("an introduction whose field \"{}\" is missing or out of range", field)};
}

}  // namespace

Introduction introduce(int rank, int size, std::uint32_t milliseconds_left) {
  const Host host = this_host();
  return {STRATA_VERSION, rank, size, printable(host.name), host.pid, milliseconds_left};
}

std::string to_json(const Introduction& i) {
  const Json object = {{"version", i.version}, {"rank", i.rank}, {"size", i.size},
                       {"host", i.host},       {"pid", i.pid},   {"milliseconds_left", i.milliseconds_left}};
  return object.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Expected<Introduction> parse_introduction(std::string_view json) {
  bool too_deep = false;
  const auto limit = [&](int depth, Json::parse_event_t, Json&) {
    return !(too_deep = too_deep || depth > kDepthMax);
  };
  const Json object = Json::parse(json, limit, /*allow_exceptions=*/false);
  if (too_deep || !object.is_object())
    return Status(ErrorCode::mismatch, "an introduction that is no flat JSON object");
  Introduction i;
  constexpr auto kIntMax = std::numeric_limits<int>::max();
  if (!read_text(object, "version", i.version)) return bad_field("version");
  if (!read_text(object, "host", i.host)) return bad_field("host");
  if (!read_number(object, "pid", 1, kIntMax, i.pid)) return bad_field("pid");
  if (!read_number(object, "rank", 0, kRanksMax - 1, i.rank)) return bad_field("rank");
  if (!read_number(object, "size", 1, kRanksMax, i.size)) return bad_field("size");
  if (!read_number(object, "milliseconds_left", 0, std::numeric_limits<std::uint32_t>::max(),
                   i.milliseconds_left))
    return bad_field("milliseconds_left");
  return i;
}

std::string describe(const Introduction& i) {
  return fmt::format("rank {} ({}, pid {})", i.rank, i.host, i.pid);
}

}  // namespace strata::rendezvous
