// The moves of every collective, on symbols, for all members at once, against what the collective means.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "ccl/local/moves.hpp"
#include "ccl/schedule/specification.hpp"
#include "tests/local/collectives.hpp"

namespace strata::test {
namespace {

// A byte of the inputs, or a sum of such: whose, and which.
struct Symbol {
  std::uint32_t ranks = 0;  // a bit each; 0: undefined
  std::uint64_t position = 0;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};
using Memory = std::vector<Symbol>;

struct Case {
  Collective collective;
  int size;
  Rank root;
  bool in_place;
  std::uint64_t count;                // bytes
  std::vector<std::uint64_t> counts;  // v forms
  std::uint64_t slot_bytes, whole_max;
};

// One member's memory. In place, input and output are parts of the same.
class Member {
 public:
  Member(const Case& c, const RankSpecification& is, int me) : is_(is) {
    const std::uint64_t input_at = c.in_place ? is.input_begin : 0;
    output_at_ = c.in_place ? is.output_begin : is.input_count;
    input_at_ = input_at;
    memory_.resize(std::max(input_at + is.input_count, output_at_ + is.output_count));
    for (std::uint64_t i = 0; i < is.input_count; ++i) input(i) = {1u << me, i};
  }
  Symbol& input(std::uint64_t i) { return memory_.at(input_at_ + i); }
  Symbol& output(std::uint64_t i) { return memory_.at(output_at_ + i); }

  Shape shape;
  std::map<std::uint64_t, Memory> slots;  // by round

 private:
  const RankSpecification& is_;
  Memory memory_;
  std::uint64_t input_at_ = 0, output_at_ = 0;
};

class World {
 public:
  explicit World(const Case& c) : case_(c) {
    strata::Call call;
    call.collective = c.collective;
    call.size = c.size;
    call.root = c.root;
    call.in_place.assign(static_cast<std::size_t>(c.size), c.in_place);
    call.count = c.count;
    call.counts = c.counts;
    specification_ = specify(call);
    begins_.assign(1, 0);
    for (const std::uint64_t count : c.counts) begins_.push_back(begins_.back() + count);
    for (int r = 0; r < c.size; ++r) {
      members_.emplace_back(c, specification_.ranks[static_cast<std::size_t>(r)], r);
      members_.back().shape = shape(r);
    }
  }

  void run() {
    const std::uint64_t n = rounds(members_[0].shape);
    for (Member& m : members_) REQUIRE(rounds(m.shape) == n);
    for (std::uint64_t i = 0; i <= n; ++i) {
      for (Member& m : members_) {
        puts(m, i);
        if (i == 0) keeps(m);
        sums(m, i);
        gets(m, i);
      }
    }
    check();
  }

 private:
  Shape shape(int me) {
    Shape s;
    s.collective = case_.collective;
    s.size = case_.size;
    s.me = me;
    s.root = case_.root;
    if (!case_.counts.empty()) {
      s.begins = begins_;
      s.total_bytes = begins_.back();
    } else {
      const bool one = s.collective == Collective::all_reduce || s.collective == Collective::reduce ||
                       s.collective == Collective::broadcast;
      s.part_bytes = case_.count;
      s.total_bytes = one ? case_.count : case_.count * static_cast<std::uint64_t>(s.size);
    }
    cut(s, case_.slot_bytes, case_.whole_max);
    return s;
  }

  Memory& slot(Member& m, std::uint64_t round) {
    REQUIRE(publishes(m.shape, round));
    Memory& slot = m.slots[round];
    REQUIRE(slot_use(m.shape) <= case_.slot_bytes);
    slot.resize(slot_use(m.shape));
    return slot;
  }
  Memory& read_slot(const Member& reader, int peer, std::uint64_t iteration) {
    const Sources from = sources(reader.shape, iteration);
    REQUIRE((from == Sources::everybody || (from == Sources::root && peer == case_.root)));
    return slot(members_[static_cast<std::size_t>(peer)], iteration - 1);
  }

  void puts(Member& m, std::uint64_t i) {
    visit_puts(m.shape, i, [&](const Put& p) {
      REQUIRE(i < rounds(m.shape));
      Memory& s = slot(m, i);
      for (std::uint64_t k = 0; k < p.length; ++k) s.at(p.slot + k) = m.input(p.input + k);
    });
  }
  void keeps(Member& m) {
    visit_keeps(m.shape, [&](const Keep& k) {
      const Memory before = [&] {
        Memory copy;
        for (std::uint64_t b = 0; b < k.length; ++b) copy.push_back(m.input(k.input + b));
        return copy;
      }();
      for (std::uint64_t b = 0; b < k.length; ++b) m.output(k.output + b) = before[b];
    });
  }
  void sums(Member& m, std::uint64_t i) {
    bool into_slot = false;
    visit_sums(m.shape, i, [&](const Sum& s) {
      into_slot = into_slot || s.to_slot;
      for (std::uint64_t b = 0; b < s.length; ++b) {
        Symbol sum;
        for (int q = 0; q < case_.size; ++q) {
          const Symbol one = q == m.shape.me ? m.input(s.input + b) : read_slot(m, q, i).at(s.slot + b);
          REQUIRE(one.ranks != 0);
          REQUIRE((sum.ranks & one.ranks) == 0);
          REQUIRE((sum.ranks == 0 || sum.position == one.position));
          sum = {sum.ranks | one.ranks, one.position};
        }
        if (s.to_output) m.output(s.output + b) = sum;
        if (s.to_slot) slot(m, i).at(s.into_slot + b) = sum;
      }
    });
    if (into_slot) CHECK(sums_into_slot(m.shape, i));
  }
  void gets(Member& m, std::uint64_t i) {
    visit_gets(m.shape, i, [&](const Get& g) {
      for (std::uint64_t b = 0; b < g.length; ++b)
        m.output(g.output + b) = read_slot(m, g.peer, i).at(g.slot + b);
    });
  }

  void check() {
    const std::uint32_t everybody = (1u << case_.size) - 1;
    for (std::size_t r = 0; r < members_.size(); ++r)
      for (const Run& run : specification_.ranks[r].result)
        for (std::uint64_t i = 0; i < run.count; ++i) {
          const Symbol wanted{run.from == kAllRanks ? everybody : 1u << run.from, run.from_begin + i};
          REQUIRE(members_[r].output(run.begin + i) == wanted);
        }
  }

  const Case case_;
  Specification specification_;
  std::vector<std::uint64_t> begins_;
  std::vector<Member> members_;
};

}  // namespace

TEST_CASE("the moves of every collective do what it means") {
  for (const Collective collective : kAll)
    for (int size = 2; size <= 6; ++size)
      for (Rank root = 0; root < (rooted(collective) ? size : 1); ++root)
        for (const bool in_place : {false, true})
          for (const std::uint64_t count : {0, 1, 63, 64, 65, 300, 1000})
            for (const std::uint64_t slot_bytes : {512, 1024, 8192})
              for (const std::uint64_t whole_max : {0, 100, 100'000}) {
                INFO(to_string(collective) << " of " << count << " on " << size << ", root " << root
                                           << (in_place ? ", in place" : "") << ", slots of " << slot_bytes
                                           << ", whole up to " << whole_max);
                World({collective,
                       size,
                       rooted(collective) ? root : kNoRank,
                       in_place,
                       count,
                       {},
                       slot_bytes,
                       whole_max})
                    .run();
              }
}

TEST_CASE("the moves of the v forms, with parts of any length") {
  constexpr unsigned kSeed = 0x10ca1;
  std::mt19937 random(kSeed);
  CAPTURE(kSeed);
  for (const Collective collective :
       {Collective::reduce_scatter, Collective::all_gather, Collective::gather, Collective::scatter})
    for (int trial = 0; trial < 60; ++trial) {
      const int size = 2 + static_cast<int>(random() % 5);
      std::vector<std::uint64_t> counts;
      for (int r = 0; r < size; ++r) counts.push_back(random() % 3 == 0 ? 0 : random() % 700);
      const bool in_place = random() % 2 == 0;
      const Rank root =
          rooted(collective) ? static_cast<Rank>(random() % static_cast<unsigned>(size)) : kNoRank;
      INFO(to_string(collective) << " trial " << trial);
      World({collective, size, root, in_place, 0, counts, 512, 100}).run();
    }
}

}  // namespace strata::test
