#include "ccl/trace/usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace strata::trace {
namespace {

double ms(Time ns) { return static_cast<double>(ns) / 1e6; }
double percent(Time part, Time whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void add_queueing(const OperationSpan& o, Usage& usage) {
  if (o.submitted == kNever || o.served() == kNever) return;
  Usage::Queueing& q = usage.queueing[o.priority];
  const Time waited = std::max<Time>(0, o.served() - o.submitted);
  ++q.operations;
  q.total += waited;
  q.longest = std::max(q.longest, waited);
}

std::string main_table(std::span<const RankUsage> ranks) {
  std::string text = fmt::format("{:>5} {:<12} {:>11} {:>11} {:>11} {:>11} {:>8} {:>11}\n", "rank", "host",
                                 "wall ms", "compute ms", "comm. ms", "exposed ms", "overlap", "waited ms");
  for (const RankUsage& r : ranks) {
    const Usage& u = r.usage;
    text +=
        fmt::format("{:>5} {:<12} {:>11.3f} {:>11.3f} {:>11.3f} {:>11.3f} {:>7.1f}% {:>11.3f}{}\n", r.rank,
                    r.host, ms(u.wall), ms(u.compute), ms(u.communication), ms(u.exposed),
                    percent(u.communication - u.exposed, u.communication), ms(u.waited),
                    r.dropped == 0 ? "" : fmt::format("  ({} records dropped: too little room)", r.dropped));
  }
  return text;
}

std::string queueing_table(std::span<const RankUsage> ranks) {
  std::string text = fmt::format("{:>5} {:>10} {:>11} {:>14} {:>14}\n", "rank", "priority", "operations",
                                 "queued us", "at most us");
  for (const RankUsage& r : ranks)
    for (const auto& [priority, q] : r.usage.queueing)
      text += fmt::format("{:>5} {:>10} {:>11} {:>14.2f} {:>14.2f}\n", r.rank, priority, q.operations,
                          static_cast<double>(q.total) / 1e3 / static_cast<double>(q.operations),
                          static_cast<double>(q.longest) / 1e3);
  return text;
}

std::string traffic_table(std::span<const RankUsage> ranks, std::span<const std::string> levels) {
  std::string text = fmt::format("{:>5} {:<16} {:>16} {:>11}\n", "rank", "level", "bytes sent", "busy ms");
  for (const RankUsage& r : ranks)
    for (std::size_t i = 0; i < r.usage.traffic.size(); ++i) {
      const Usage::Traffic& t = r.usage.traffic[i];
      if (t.bytes == 0 && t.time == 0) continue;
      text += fmt::format("{:>5} {:<16} {:>16} {:>11.3f}\n", r.rank,
                          i < levels.size() ? levels[i] : "shared memory", t.bytes, ms(t.time));
    }
  return text;
}

}  // namespace

std::vector<Interval> united(std::vector<Interval> all) {
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& i : all) {
    if (i.end <= i.begin) continue;
    if (!result.empty() && i.begin <= result.back().end)
      result.back().end = std::max(result.back().end, i.end);
    else
      result.push_back(i);
  }
  return result;
}

std::vector<Interval> without(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> result;
  std::size_t next = 0;
  for (const Interval& i : a) {
    Time begin = i.begin;
    while (next < b.size() && b[next].end <= begin) ++next;
    for (std::size_t k = next; k < b.size() && b[k].begin < i.end; ++k) {
      if (b[k].begin > begin) result.push_back({begin, b[k].begin});
      begin = std::max(begin, b[k].end);
    }
    if (begin < i.end) result.push_back({begin, i.end});
  }
  return result;
}

Time length(std::span<const Interval> intervals) {
  Time total = 0;
  for (const Interval& i : intervals) total += i.end - i.begin;
  return total;
}

Usage usage_of(const Timeline& t, const Levels& levels) {
  Usage usage;
  usage.wall = t.time.end - t.time.begin;
  std::vector<Interval> compute, communication, waits;
  std::vector<std::vector<Interval>> busy(levels.names.size() + 1);
  usage.traffic.resize(busy.size());
  for (const ThreadSpan& s : t.spans) {
    if (s.category == "compute") compute.push_back(s.time);
    if (s.category == "wait") waits.push_back(s.time);
  }
  for (const OperationSpan& o : t.operations) {
    communication.push_back({o.begin(), o.ended});
    add_queueing(o, usage);
    if (o.way != Way::shared_memory || o.started == kNever) continue;
    usage.traffic.back().bytes += o.bytes;
    busy.back().push_back({o.started, o.ended});
  }
  for (const MessageSpan& m : t.messages) {
    const auto level = static_cast<std::size_t>(levels.of_peer[static_cast<std::size_t>(m.peer)]);
    if (m.direction == Direction::send) usage.traffic[level].bytes += m.bytes;
    busy[level].push_back(m.time);
  }
  const auto computing = united(std::move(compute)), communicating = united(std::move(communication));
  usage.compute = length(computing);
  usage.communication = length(communicating);
  usage.exposed = length(without(communicating, computing));
  usage.waited = length(united(std::move(waits)));
  for (std::size_t i = 0; i < busy.size(); ++i) usage.traffic[i].time = length(united(std::move(busy[i])));
  return usage;
}

std::string usage_table(std::span<const RankUsage> ranks, std::span<const std::string> levels) {
  return main_table(ranks) + "\n" + queueing_table(ranks) + "\n" + traffic_table(ranks, levels);
}

}  // namespace strata::trace
