// Derives the order of a program's steps from the bytes they read and write, and numbers its messages.
#include "ccl/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>

#include "ccl/base/check.hpp"
#include "ccl/base/interval_map.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kNone = ~0u;
constexpr int kBuffers = 4;
constexpr std::size_t kArenaBytes = 16 * 1024;  // on the stack: small programs derive without a heap node

struct Edge {
  StepId before;
  StepId after;
};

// Goes through the steps in program order and remembers of every byte who wrote it last and who has read it
// since.
class Derivation final {
 public:
  explicit Derivation(std::size_t steps) : last_after_(steps, kNone) {
    edges_.reserve(2 * steps);
    readers_.reserve(2 * steps);
  }

  void add(StepId id, const Step& step) {
    read(id, step.from());
    write(id, step.into());
  }
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  // The readers of a range are a list whose nodes are never changed, so that both halves of a split range can
  // share them.
  struct Reader {
    StepId id;
    std::uint32_t next;
  };
  struct Access {
    StepId writer = kNone;
    std::uint32_t readers = kNone;  // head of a list in readers_
  };
  using Ranges = IntervalMap<Access>;

  void read(StepId id, Slice slice) {
    if (slice.length == 0) return;
    of(slice).touch(slice.offset, slice.offset + slice.length, [&](Access& access) {
      wait_for(access.writer, id);
      readers_.push_back({id, access.readers});
      access.readers = static_cast<std::uint32_t>(readers_.size() - 1);
    });
  }

  void write(StepId id, Slice slice) {
    if (slice.length == 0) return;
    const std::uint64_t end = slice.offset + slice.length;
    of(slice).touch(slice.offset, end, [&](Access& access) {
      bool others = false;
      for (std::uint32_t r = access.readers; r != kNone; r = readers_[r].next) {
        if (readers_[r].id == id) continue;
        others = true;
        wait_for(readers_[r].id, id);
      }
      if (!others) wait_for(access.writer, id);  // otherwise implied: its readers have waited for it
    });
    of(slice).assign(slice.offset, end, {id, kNone});
  }

  void wait_for(StepId before, StepId after) {
    if (before == kNone || before == after || last_after_[before] == after) return;
    last_after_[before] = after;
    edges_.push_back({before, after});
  }

  Ranges& of(Slice slice) { return ranges_[static_cast<std::size_t>(slice.buffer)]; }

  std::array<std::byte, kArenaBytes> arena_;
  std::pmr::monotonic_buffer_resource memory_{arena_.data(), arena_.size()};
  std::array<Ranges, kBuffers> ranges_{Ranges{&memory_}, Ranges{&memory_}, Ranges{&memory_},
                                       Ranges{&memory_}};
  std::vector<Reader> readers_;
  std::vector<Edge> edges_;
  std::vector<StepId> last_after_;  // the last step that waits for this one: an edge is stored once
};

void store_edges(Schedule& schedule, const std::vector<Edge>& edges) {
  const std::size_t n = schedule.steps.size();
  schedule.waits.assign(n, 0);
  schedule.first_dependent.assign(n + 1, 0);
  schedule.dependents.resize(edges.size());
  for (const Edge& e : edges) {
    ++schedule.waits[e.after];
    ++schedule.first_dependent[e.before + 1];
  }
  for (std::size_t s = 0; s < n; ++s) schedule.first_dependent[s + 1] += schedule.first_dependent[s];
  std::vector<std::uint32_t> next(schedule.first_dependent.begin(), schedule.first_dependent.end() - 1);
  for (const Edge& e : edges) schedule.dependents[next[e.before]++] = e.after;
  for (StepId s = 0; s < n; ++s)
    if (schedule.waits[s] == 0) schedule.roots.push_back(s);
}

void number_messages(Schedule& schedule) {
  struct Entry {
    std::uint64_t lane;  // peer, channel and direction
    StepId id;
    bool operator<(const Entry& other) const {
      return lane != other.lane ? lane < other.lane : id < other.id;
    }
  };
  std::vector<Entry> entries;
  entries.reserve(schedule.steps.size());
  for (StepId s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (!step.on_wire()) continue;
    entries.push_back(
        {static_cast<std::uint64_t>(step.peer) << 9 | step.channel << 1 | (step.op == Op::send), s});
  }
  std::sort(entries.begin(), entries.end());
  schedule.message.assign(schedule.steps.size(), 0);
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    index = i > 0 && entries[i].lane == entries[i - 1].lane ? index + 1 : 0;
    const std::uint32_t channel = schedule.steps[entries[i].id].channel;
    schedule.message[entries[i].id] = channel << 24 | index;  // index < kStepsMax = 2^24
  }
}

}  // namespace

Schedule derive(const Program& program) {
  Schedule schedule;
  schedule.steps = program.steps();
  schedule.scratch_bytes = program.scratch_bytes();
  const std::size_t n = schedule.steps.size();
  STRATA_CHECK(n <= kStepsMax, n);
  Derivation derivation(n);
  for (StepId s = 0; s < n; ++s) derivation.add(s, schedule.steps[s]);
  store_edges(schedule, derivation.edges());
  number_messages(schedule);
  return schedule;
}

}  // namespace strata
