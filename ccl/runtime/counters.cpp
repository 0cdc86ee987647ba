#include "ccl/runtime/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace strata {
namespace {

constexpr const char* kPeerNames[kPeerClasses] = {"self", "host", "network", "shared_memory"};

class Text {
 public:
  explicit Text(Rank rank) : rank_(rank) {}
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    add("# HELP strata_{} {}\n# TYPE strata_{} {}\n", name, help, name, type);
  }
  template <class Value>
  void sample(Value value, std::string_view label = {}, std::string_view of = {}) {
    if (label.empty())
      add("strata_{}{{rank=\"{}\"}} {}\n", name_, rank_, value);
    else
      add("strata_{}{{rank=\"{}\",{}=\"{}\"}} {}\n", name_, rank_, label, of, value);
  }
  std::string take() { return std::move(text_); }

 private:
  template <class... A>
  void add(fmt::format_string<A...> format, A&&... a) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(a)...);
  }
  const Rank rank_;
  std::string_view name_;
  std::string text_;
};

}  // namespace

Counters::Priority& Counters::of_priority(std::int32_t priority) {
  for (Priority& p : priorities_) {
    std::int64_t number = p.number.load(std::memory_order_relaxed);
    if (number == priority) return p;
    if (number != kUnused) continue;
    if (p.number.compare_exchange_strong(number, priority) || number == priority) return p;
  }
  return priorities_.back();
}

std::string Counters::text(Rank rank) const {
  Text t(rank);
  const auto by_collective = [&](std::string_view name, std::string_view help,
                                 const PerCollective& counters) {
    t.family(name, "counter", help);
    for (int c = 0; c < kCollectives; ++c)
      t.sample(counters[static_cast<std::size_t>(c)].value(), "collective",
               to_string(static_cast<Collective>(c)));
  };
  by_collective("operations_started_total", "Operations that the engine has taken up.", started_);
  by_collective("operations_ended_total", "Operations that have ended well.", ended_);
  by_collective("operations_failed_total", "Operations that have ended otherwise.", failed_);
  const auto by_peer = [&](std::string_view name, std::string_view help, const auto& counters) {
    t.family(name, "counter", help);
    for (std::size_t i = 0; i < kPeerClasses; ++i) t.sample(counters[i].value(), "peer", kPeerNames[i]);
  };
  by_peer("sent_bytes_total", "Bytes of messages sent, and of calls done on shared memory.", sent_);
  by_peer("received_bytes_total", "Bytes of messages received.", received_);
  t.family("operations_in_flight", "gauge", "Operations called and not ended, by priority.");
  for (const Priority& p : priorities_) {
    const std::int64_t number = p.number.load(std::memory_order_relaxed);
    if (number == kUnused) continue;
    const std::uint64_t left = p.left.value();  // first, so that it is not more than have entered
    t.sample(p.entered.value() - left, "priority", fmt::format("{}", number));
  }
  t.family("engine_turns_total", "counter",
           "Looks at queues and transports, by whether there was something to do.");
  t.sample(turns_.value(), "found", "work");
  t.sample(idle_turns_.value(), "found", "nothing");
  t.family("engine_sleeps_total", "counter", "Times that the engine waited in the kernel for news.");
  t.sample(sleeps_.value());
  t.family("engine_asleep_seconds_total", "counter", "Time that it did so.");
  t.sample(fmt::format("{:.6f}", static_cast<double>(asleep_ns_.value()) / 1e9));
  return t.take();
}

}  // namespace strata
