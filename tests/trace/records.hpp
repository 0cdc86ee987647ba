// Records by hand: a rank's story, in nanoseconds.
#pragma once
#include <string>

#include "ccl/trace/timeline.hpp"

namespace strata::test {

class Story {
 public:
  explicit Story(Rank rank = 0) {
    part_.header.rank = rank;
    part_.header.records_max = 1000;
    std::string("somewhere").copy(part_.header.host.data(), part_.header.host.size() - 1);
  }
  // An operation of communicator 1.
  Story& add(trace::Kind kind, std::uint64_t time, std::uint64_t operation, int what = 0,
             std::uint64_t bytes = 0, std::uint64_t duration = 0, std::uint32_t detail = 0,
             Rank peer = kNoRank) {
    trace::Record r;
    r.time = time;
    r.of = {duration, operation, bytes};
    r.communicator = 1;
    r.peer = peer;
    r.detail = detail;
    r.what = static_cast<std::uint8_t>(what);
    r.kind = kind;
    part_.records.push_back(r);
    ++part_.header.next;
    return *this;
  }
  Story& begin(std::uint64_t time, const std::string& name, int category = 0, int index = -1,
               std::uint16_t thread = 0) {
    add(trace::Kind::begin, time, 0, category);
    trace::Record& r = part_.records.back();
    r.name = {};
    name.copy(r.name.data(), r.name.size());
    r.detail = static_cast<std::uint32_t>(index);
    r.thread = thread;
    return *this;
  }
  Story& end(std::uint64_t time, std::uint16_t thread = 0) {
    add(trace::Kind::end, time, 0);
    part_.records.back().thread = thread;
    return *this;
  }
  // One that is called, taken up and ended, by messages.
  Story& operation(std::uint64_t number, std::uint64_t submitted, std::uint64_t started, std::uint64_t ended,
                   int priority = 0) {
    add(trace::Kind::submitted, submitted, number, static_cast<int>(Collective::all_reduce), 100, 0,
        static_cast<std::uint32_t>(priority));
    add(trace::Kind::started, started, number);
    return add(trace::Kind::ended, ended, number);
  }
  trace::Part& part() { return part_; }
  trace::Timeline timeline() const { return trace::timeline_of(part_); }

 private:
  trace::Part part_;
};

}  // namespace strata::test
