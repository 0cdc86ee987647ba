#include "ccl/trace/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "ccl/base/environment.hpp"
#include "ccl/base/errno_status.hpp"

namespace strata::trace {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Status not_a_part(const std::string& path, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("{} is no part of a trace: {}", path, why)};
}

}  // namespace

std::string text_of(const ThreadName& name) {
  std::array<char, sizeof name + 1> text{};
  std::memcpy(text.data(), name.data(), sizeof name);
  return text.data();
}

void to_nanoseconds(Part& part) {
  const TickRate rate(part.header.begun, part.header.latest);
  for (Record& r : part.records) {
    if (r.kind == Kind::at_once || r.kind == Kind::step || r.kind == Kind::wait)
      r.of.duration = rate.ns_between(r.time, r.time + r.of.duration);
    r.time = rate.ns_at(r.time);
  }
}

std::vector<std::string> part_places(const std::string& trace, Rank rank) {
  const Environment environment = Environment::of_process();
  const std::string_view temporary = environment.text("TMPDIR");
  const std::string beside = fmt::format("{}.rank{}.part", trace, rank);
  return {beside,
          fmt::format("{}/{}", temporary.empty() ? "/tmp" : temporary, beside.substr(beside.rfind('/') + 1))};
}

Expected<Part> read_part(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return errno_status("open", path);
  std::array<std::byte, kHeaderBytes> bytes;
  if (std::fread(bytes.data(), bytes.size(), 1, file.get()) != 1) return not_a_part(path, "it is too short");
  Part part;
  std::memcpy(&part.header, bytes.data(), sizeof part.header);
  if (part.header.magic != kMagic) return not_a_part(path, "it does not begin as one");
  const std::uint64_t claimed = std::min(part.header.next, part.header.records_max);
  Record record;
  for (std::uint64_t i = 0; i < claimed && std::fread(&record, sizeof record, 1, file.get()) == 1; ++i)
    if (record.kind != Kind::none && static_cast<int>(record.kind) < kKinds) part.records.push_back(record);
  if (std::ferror(file.get())) return errno_status("read", path);
  to_nanoseconds(part);
  return part;
}

std::int64_t common_ns(const PartHeader& header, std::uint64_t ns) {
  const auto local = static_cast<std::int64_t>(ns);
  const ClockOffset &a = header.first, &b = header.last;
  if (a.at_ns == b.at_ns) return local - a.offset_ns;
  const double slope =
      static_cast<double>(b.offset_ns - a.offset_ns) / static_cast<double>(b.at_ns - a.at_ns);
  return local - a.offset_ns - static_cast<std::int64_t>(slope * static_cast<double>(local - a.at_ns));
}

}  // namespace strata::trace
