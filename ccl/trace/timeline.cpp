#include "ccl/trace/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace strata::trace {
namespace {

constexpr const char* kCategories[] = {"compute", "data", "other"};  // by TraceCategory

struct Key {
  std::uint64_t operation;
  std::uint32_t communicator, message;
  Rank peer;
  Direction direction;
  friend bool operator==(const Key&, const Key&) = default;
};
struct Hash {
  std::size_t operator()(const Key& k) const {
    std::uint64_t h = k.operation;
    for (const std::uint64_t part :
         {std::uint64_t{k.communicator}, std::uint64_t{k.message}, static_cast<std::uint64_t>(k.peer) << 1,
          static_cast<std::uint64_t>(k.direction)})
      h = (h ^ part) * 0x9e3779b97f4a7c15u ^ (h >> 29);
    return static_cast<std::size_t>(h);
  }
};

class Builder {
 public:
  explicit Builder(const Part& part) : part_(part) {
    const PartHeader& h = part.header;
    t_.rank = h.rank;
    t_.pid = h.pid;
    t_.host = h.host.data();
    t_.records = part.records.size();
    t_.dropped = part.dropped();
    t_.first = h.first;
    t_.last = h.last;
    for (const ThreadName& name : h.threads)
      if (name[0] != 0) t_.threads.push_back(text_of(name));
    t_.time.begin = t_.time.end = at(h.begun.ns);
    for (const Record& r : part.records)
      t_.time.end = std::max(t_.time.end, at(r.time + (has_duration(r.kind) ? r.of.duration : 0)));
  }

  Timeline build() {
    for (const Record& r : part_.records) add(r);
    for (OperationSpan& o : t_.operations)
      if (!o.has_ended) o.ended = t_.time.end;
    for (MessageSpan& m : t_.messages)
      if (!m.has_ended) m.time.end = t_.time.end;
    for (const auto& [thread, open] : open_)
      for (const std::size_t span : open) t_.spans[span].time.end = t_.time.end;
    return std::move(t_);
  }

 private:
  static bool has_duration(Kind kind) {
    return kind == Kind::at_once || kind == Kind::step || kind == Kind::wait;
  }
  Time at(std::uint64_t ns) const { return common_ns(part_.header, ns); }

  void add(const Record& r) {
    switch (r.kind) {
      case Kind::submitted:
      case Kind::started:
      case Kind::ended:
      case Kind::at_once: return add_operation(r);
      case Kind::posted:
      case Kind::departed:
      case Kind::completed: return add_message(r);
      case Kind::step:
        return add_span(r, static_cast<Local>(r.what) == Local::copy ? "copy" : "reduce", "step");
      case Kind::wait: return add_span(r, "wait", "wait");
      case Kind::begin: return begin(r);
      case Kind::end: return end(r);
      case Kind::none: return;
    }
  }

  // Records come nearly in the order of time, not quite: threads get their places before they write.
  // A send and a receive may have one number.
  static Direction direction_of(const Record& r) {
    const bool receives = r.kind == Kind::started ? static_cast<Way>(r.what) == Way::receive
                          : r.kind == Kind::ended ? static_cast<Way>(r.detail) == Way::receive
                                                  : static_cast<Collective>(r.what) == Collective::recv;
    return receives ? Direction::receive : Direction::send;
  }
  OperationSpan& operation_of(const Record& r) {
    const auto [found, is_new] = operations_.try_emplace(
        {r.of.operation, r.communicator, 0, r.peer, direction_of(r)}, t_.operations.size());
    if (is_new)
      t_.operations.push_back({.communicator = r.communicator, .number = r.of.operation, .peer = r.peer});
    return t_.operations[found->second];
  }

  void add_operation(const Record& r) {
    OperationSpan& o = operation_of(r);
    const Time time = at(r.time);
    if (r.kind == Kind::started) {
      o.started = time;
      o.way = static_cast<Way>(r.what);
      o.algorithm = r.detail;
    } else if (r.kind == Kind::ended) {
      o.ended = time;
      o.has_ended = true;
      o.error = static_cast<ErrorCode>(r.what);
    } else {
      o.submitted = o.submitted == kNever ? time : std::min(o.submitted, time);
      o.collective = static_cast<Collective>(r.what);
      o.bytes = r.of.bytes;
      if (r.kind == Kind::submitted) o.priority = static_cast<std::int32_t>(r.detail);
      if (r.kind == Kind::at_once) add_at_once(r, o);
    }
  }

  void add_at_once(const Record& r, OperationSpan& o) {
    const bool message = o.collective == Collective::send || o.collective == Collective::recv;
    o.way = !message ? Way::shared_memory : o.collective == Collective::send ? Way::send : Way::receive;
    o.started = at(r.time);
    o.ended = at(r.time + r.of.duration);
    o.has_ended = true;
    if (!message) return;
    if (o.collective == Collective::send) o.departed = o.started;
    t_.messages.push_back(
        {.communicator = r.communicator,
         .operation = r.of.operation,
         .peer = r.peer,
         .direction = o.collective == Collective::send ? Direction::send : Direction::receive,
         .bytes = r.of.bytes,
         .time = {o.started, o.ended},
         .departed = o.departed,
         .has_ended = true});
  }

  void add_message(const Record& r) {
    const auto direction = static_cast<Direction>(r.what);
    const auto [found, is_new] = messages_.try_emplace(
        {r.of.operation, r.communicator, r.detail, r.peer, direction}, t_.messages.size());
    if (is_new)
      t_.messages.push_back({.communicator = r.communicator,
                             .number = r.detail,
                             .operation = r.of.operation,
                             .peer = r.peer,
                             .direction = direction,
                             .bytes = r.of.bytes,
                             .time = {}});
    MessageSpan& m = t_.messages[found->second];
    const Time time = at(r.time);
    if (m.time.begin == kNever || time < m.time.begin) m.time.begin = time;
    if (r.kind == Kind::departed) {
      m.departed = time;
      depart(r, time);
    }
    if (r.kind != Kind::completed) return;
    m.time.end = time;
    m.has_ended = true;
  }

  // The operation of a message has a peer only if it is a send or a receive itself.
  void depart(const Record& r, Time time) {
    for (const Rank peer : {kNoRank, r.peer}) {
      const auto found = operations_.find({r.of.operation, r.communicator, 0, peer, {}});
      if (found == operations_.end()) continue;
      Time& departed = t_.operations[found->second].departed;
      departed = departed == kNever ? time : std::min(departed, time);
    }
  }

  void add_span(const Record& r, const char* name, const char* category) {
    t_.spans.push_back({r.thread, name, category, r.of.bytes, {at(r.time), at(r.time + r.of.duration)}});
  }

  void begin(const Record& r) {
    std::string name(r.name.data(), std::find(r.name.begin(), r.name.end(), '\0'));
    if (static_cast<std::int32_t>(r.detail) >= 0) name += fmt::format(" {}", r.detail);
    const std::size_t category = std::min<std::size_t>(r.what, std::size(kCategories) - 1);
    open_[r.thread].push_back(t_.spans.size());
    t_.spans.push_back({r.thread, std::move(name), kCategories[category], 0, {at(r.time), kNever}});
  }
  void end(const Record& r) {
    auto& open = open_[r.thread];
    if (open.empty()) return;
    t_.spans[open.back()].time.end = at(r.time);
    open.pop_back();
  }

  const Part& part_;
  Timeline t_;
  std::unordered_map<Key, std::size_t, Hash> operations_, messages_;
  std::map<std::uint16_t, std::vector<std::size_t>> open_;
};

}  // namespace

Timeline timeline_of(const Part& part) { return Builder(part).build(); }

}  // namespace strata::trace
