#include "ccl/trace/chrome.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ccl/base/errno_status.hpp"

namespace strata::trace {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
// Tracks of messages come after those of threads.
constexpr std::size_t kFirstSends = 100'000, kFirstReceives = 200'000;

// Of operation numbers (ccl/runtime/operation_number.hpp): what counts.
constexpr std::uint64_t kNamed = std::uint64_t{1} << 62, kNamedMask = (1u << 24) - 1,
                        kMask = (std::uint64_t{1} << 61) - 1;
std::uint64_t count_of(std::uint64_t number) {
  return number & ((number & kNamed) != 0 ? kNamedMask : kMask);
}

// As a JSON string; bytes that are no UTF-8 are replaced.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The same at both ends of a message, and of no other.
std::string flow_of(const MessageSpan& m, Rank me) {
  const Rank from = m.direction == Direction::send ? me : m.peer,
             to = m.direction == Direction::send ? m.peer : me;
  return fmt::format("{:x}.{:x}.{:x}.{}.{}", m.communicator, m.operation, m.number, from, to);
}

}  // namespace

ChromeFile::ChromeFile(std::string path, std::span<const std::string_view> algorithms)
    : path_(std::move(path)), temporary_(path_ + ".tmp"), algorithms_(algorithms) {}

ChromeFile::~ChromeFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(temporary_.c_str());
}

Status ChromeFile::open() {
  file_ = std::fopen(temporary_.c_str(), "we");
  if (file_ == nullptr) return failed_ = errno_status("open", temporary_);
  fmt::format_to(std::back_inserter(buffer_), "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  return {};
}

void ChromeFile::flush() {
  if (failed_.ok() && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
    failed_ = errno_status("write", temporary_);
  buffer_.clear();
}

std::string ChromeFile::us(Time ns) const {
  const Time since = ns - origin_, whole = since / 1000, rest = since % 1000;
  const bool negative = since < 0;
  return fmt::format("{}{}.{:03}", negative ? "-" : "", negative ? -whole : whole, negative ? -rest : rest);
}

void ChromeFile::event(std::string_view text) {
  fmt::format_to(std::back_inserter(buffer_), "{}\n{{{}}}", first_ ? "" : ",", text);
  first_ = false;
  if (buffer_.size() >= kBufferBytes) flush();
}

void ChromeFile::add(const Timeline& t) {
  if (origin_ == kNever) origin_ = t.time.begin;
  for (const OperationSpan& o : t.operations) add_operation(t, o);
  add_spans(t);
  const std::size_t sends = add_messages(t, Direction::send), receives = add_messages(t, Direction::receive);
  name_tracks(t, sends, receives);
  of_ranks_ += fmt::format(
      "{}\"{}\":{{\"host\":{},\"pid\":{},\"records\":{},\"dropped_records\":{},\"clock_offset_ns\":[{},{}],"
      "\"clock_error_ns\":[{},{}]}}",
      of_ranks_.empty() ? "" : ",", t.rank, json_text(t.host), t.pid, t.records, t.dropped, t.first.offset_ns,
      t.last.offset_ns, t.first.error_ns, t.last.error_ns);
  dropped_ += t.dropped;
}

void ChromeFile::name_tracks(const Timeline& t, std::size_t sends, std::size_t receives) {
  const auto metadata = [&](std::string_view what, std::size_t track, const std::string& arguments) {
    event(fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}})", what, t.rank, track,
                      arguments));
  };
  const auto name = [](const std::string& text) { return "\"name\":" + json_text(text); };
  metadata("process_name", 0, name(fmt::format("rank {} on {}", t.rank, t.host)));
  metadata("process_sort_index", 0, fmt::format("\"sort_index\":{}", t.rank));
  for (std::size_t i = 0; i < t.threads.size(); ++i)
    metadata("thread_name", i, name(fmt::format("thread {} ({})", i, t.threads[i])));
  for (std::size_t i = 0; i < sends; ++i) metadata("thread_name", kFirstSends + i, name("sends"));
  for (std::size_t i = 0; i < receives; ++i) metadata("thread_name", kFirstReceives + i, name("receives"));
}

void ChromeFile::add_operation(const Timeline& t, const OperationSpan& o) {
  const std::string what =
      fmt::format(R"("cat":"operation","id2":{{"local":"{:x}.{:x}.{}.{}"}},"pid":{},"tid":0)", o.communicator,
                  o.number, o.peer, static_cast<int>(o.collective), t.rank);
  const auto phase = [&](char ph, std::string_view name, Time time, const std::string& arguments) {
    event(fmt::format(R"("ph":"{}","name":"{}",{},"ts":{}{})", ph, name, what, us(time), arguments));
  };
  const std::string_view algorithm = o.way == Way::shared_memory        ? "shared_memory"
                                     : o.way != Way::algorithm          ? "message"
                                     : o.algorithm < algorithms_.size() ? algorithms_[o.algorithm]
                                                                        : "?";
  const std::string_view name = to_string(o.collective);
  phase(
      'b', name, o.begin(),
      fmt::format(
          R"(,"args":{{"bytes":{},"priority":{},"algorithm":"{}","communicator":{},"number":{},"peer":{},"status":"{}"}})",
          o.bytes, o.priority, algorithm, o.communicator, count_of(o.number), o.peer,
          o.has_ended ? to_string(o.error) : "unfinished"));
  if (o.submitted != kNever) {
    const Time until = o.started == kNever ? o.ended : o.started;
    phase('b', "queued", o.submitted, "");
    phase('e', "queued", std::max(o.submitted, until), "");
  }
  if (o.started != kNever) {
    phase('b', "running", o.started, "");
    if (o.departed != kNever) phase('n', "first byte sent", o.departed, "");
    phase('e', "running", std::max(o.started, o.ended), "");
  }
  phase('e', name, std::max(o.begin(), o.ended), "");
}

void ChromeFile::add_spans(const Timeline& t) {
  std::vector<const ThreadSpan*> spans;
  for (const ThreadSpan& s : t.spans) spans.push_back(&s);
  std::stable_sort(spans.begin(), spans.end(), [](const ThreadSpan* a, const ThreadSpan* b) {
    return a->time.begin != b->time.begin ? a->time.begin < b->time.begin : a->time.end > b->time.end;
  });
  for (const ThreadSpan* s : spans)
    event(fmt::format(
        R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"bytes":{}}})",
        json_text(s->name), s->category, t.rank, s->thread, us(s->time.begin),
        us(origin_ + s->time.end - s->time.begin), s->bytes));
}

// Returns how many tracks they take.
std::size_t ChromeFile::add_messages(const Timeline& t, Direction direction) {
  std::vector<const MessageSpan*> messages;
  for (const MessageSpan& m : t.messages)
    if (m.direction == direction) messages.push_back(&m);
  std::stable_sort(messages.begin(), messages.end(),
                   [](const MessageSpan* a, const MessageSpan* b) { return a->time.begin < b->time.begin; });
  const bool sends = direction == Direction::send;
  std::vector<Time> free_from;  // of each track
  for (const MessageSpan* m : messages) {
    const auto track =
        std::find_if(free_from.begin(), free_from.end(), [&](Time at) { return at <= m->time.begin; });
    const auto index = static_cast<std::size_t>(track - free_from.begin());
    if (track == free_from.end()) free_from.emplace_back();
    free_from[index] = std::max(m->time.end, m->time.begin + 1);
    const std::string place =
        fmt::format("\"pid\":{},\"tid\":{}", t.rank, (sends ? kFirstSends : kFirstReceives) + index);
    event(fmt::format(
        R"("ph":"X","name":"{} {}","cat":"message",{},"ts":{},"dur":{},"args":{{"peer":{},"bytes":{},"communicator":{},"operation":{},"message":{}{}}})",
        sends ? "send to" : "receive from", m->peer, place, us(m->time.begin),
        us(origin_ + m->time.end - m->time.begin), m->peer, m->bytes, m->communicator, count_of(m->operation),
        m->number, m->has_ended ? "" : R"(,"status":"unfinished")"));
    if (!m->has_ended) continue;
    // An arrow is bound to the span in which its end lies.
    event(fmt::format(R"("ph":"{}"{},"name":"message","cat":"message","id":"{}",{},"ts":{})",
                      sends ? 's' : 'f', sends ? "" : R"(,"bp":"e")", flow_of(*m, t.rank), place,
                      us(sends ? m->time.begin : std::max(m->time.begin, m->time.end - 1))));
  }
  return free_from.size();
}

Status ChromeFile::finish() {
  fmt::format_to(std::back_inserter(buffer_),
                 "\n],\"otherData\":{{\"dropped_records\":{},\"ranks\":{{{}}}}}}}\n", dropped_, of_ranks_);
  flush();
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && failed_.ok())
    failed_ = errno_status("close", temporary_);
  if (failed_.ok() && std::rename(temporary_.c_str(), path_.c_str()) != 0)
    failed_ = errno_status("rename", path_);
  if (!failed_.ok()) std::remove(temporary_.c_str());
  return failed_;
}

}  // namespace strata::trace
