// Maps ranges of integers to values; ranges split where a query begins or ends inside them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory_resource>

namespace strata {

// What was never assigned has the value Value{}. Memory comes from the resource given, which must outlive the
// map.
template <class Value>
class IntervalMap final {
 public:
  explicit IntervalMap(std::pmr::memory_resource* memory) : ranges_(memory) {}

  // Calls visit(Value&) for each of the ranges that make up [begin, end), in order. visit may change the
  // value.
  template <class Visit>
  void touch(std::uint64_t begin, std::uint64_t end, Visit visit) {
    auto it = split(begin);
    for (std::uint64_t at = begin; at < end; ++it) {
      if (it == ranges_.end() || it->first > at) {
        const std::uint64_t gap_end = it == ranges_.end() ? end : std::min(it->first, end);
        it = ranges_.emplace_hint(it, at, Range{gap_end, Value{}});
      } else if (it->second.end > end) {
        split_range(it, end);
      }
      visit(it->second.value);
      at = it->second.end;
    }
  }

  // Makes [begin, end) one range. Amortized O(log n): the ranges it replaces are gone.
  void assign(std::uint64_t begin, std::uint64_t end, const Value& value) {
    if (begin >= end) return;
    auto it = split(begin);
    while (it != ranges_.end() && it->first < end) {
      if (it->second.end > end) split_range(it, end);
      it = ranges_.erase(it);
    }
    ranges_.emplace_hint(it, begin, Range{end, value});
  }

  std::size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    std::uint64_t end;
    Value value;
  };
  using Ranges = std::pmr::map<std::uint64_t, Range>;  // disjoint, keyed by begin

  // The first range at or after `at`, once none reaches across it.
  typename Ranges::iterator split(std::uint64_t at) {
    auto it = ranges_.lower_bound(at);
    if (it == ranges_.begin() || (it != ranges_.end() && it->first == at)) return it;
    const auto before = std::prev(it);
    return before->second.end > at ? split_range(before, at) : it;
  }

  typename Ranges::iterator split_range(typename Ranges::iterator it, std::uint64_t at) {
    const auto tail = ranges_.emplace_hint(std::next(it), at, it->second);
    it->second.end = at;
    return tail;
  }

  Ranges ranges_;
};

}  // namespace strata
