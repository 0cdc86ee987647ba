// The moves straight between buffers, on symbols, for all members at once: right in whatever order members
// come.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "ccl/local/straight.hpp"
#include "ccl/schedule/specification.hpp"
#include "tests/local/collectives.hpp"

namespace strata::test {
namespace {

struct Case {
  Collective collective;
  int size;
  Rank root;
  bool in_place;
  std::uint64_t count;                // bytes
  std::vector<std::uint64_t> counts;  // v forms
};

// A byte of a member's memory: whose, and where. In place, input and output are parts of the same.
using Place = std::pair<int, std::uint64_t>;
// A byte of the inputs, or a sum of such: a bit a member, and which.
using Symbol = std::pair<std::uint32_t, std::uint64_t>;

// Gathers what members do, and looks at it as done at one moment by all: that is what any order gives, if
// nobody writes what another reads or writes.
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
  }

  void run() {
    for (int me = 0; me < case_.size; ++me) act(shape(me));
    for (int me = 0; me < case_.size; ++me) check_waits(shape(me));
    for (const auto& [place, writer] : written_)
      for (const int reader : read_[place]) REQUIRE(reader == writer.first);
    check_results();
  }

 private:
  Shape shape(int me) const {
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
    share_out(s, false);
    return s;
  }
  const RankSpecification& of(int member) const {
    return specification_.ranks[static_cast<std::size_t>(member)];
  }
  Place input(int member, std::uint64_t i) const {
    REQUIRE(i < of(member).input_count);
    return {member, (case_.in_place ? of(member).input_begin : 0) + i};
  }
  Place output(int member, std::uint64_t i) const {
    REQUIRE(i < of(member).output_count);
    return {member, (case_.in_place ? of(member).output_begin : of(member).input_count) + i};
  }
  void read(const Shape& s, int member, std::uint64_t i) {
    if (member != s.me) REQUIRE((lends_input(s, member) && borrows(s, member)));
    if (member != s.me) borrowed_[member].insert(s.me);
    read_[input(member, i)].insert(s.me);
  }
  void write(const Shape& s, int member, std::uint64_t i, Symbol symbol) {
    if (member != s.me) REQUIRE((lends_output(s, member) && borrows(s, member)));
    if (member != s.me) borrowed_[member].insert(s.me);
    REQUIRE(written_.emplace(output(member, i), std::pair(s.me, symbol)).second);
  }

  void act(const Shape& s) {
    std::vector<Fetch> fetches;
    list_fetches(s, fetches);
    for (const Fetch& f : fetches)
      for (std::uint64_t i = 0; i < f.length; ++i) {
        const Symbol symbol{1u << f.peer, f.from + i};
        if (input(f.peer, f.from + i) == output(s.me, f.output + i)) {
          kept_.emplace(output(s.me, f.output + i), symbol);  // it is there
        } else {
          read(s, f.peer, f.from + i);
          write(s, s.me, f.output + i, symbol);
        }
      }
    const Share share = share_of(s);
    for (std::uint64_t i = 0; i < share.length; ++i) {
      for (int q = 0; q < s.size; ++q) read(s, q, share.input + i);
      for (int q = 0; q < s.size; ++q)
        if (wants_share(s, q)) write(s, q, share.output + i, {(1u << s.size) - 1, share.input + i});
    }
  }
  // Nobody has its buffers back while they are used.
  void check_waits(const Shape& s) {
    for (int member = 0; member < s.size; ++member)
      if (borrows(s, member) && s.total_bytes > 0 && case_.counts.empty())
        REQUIRE((borrowed_[member].count(s.me) == 1 || s.length(s.me) == 0));
    const Sources waited_for = borrowers(s);
    for (const int user : borrowed_[s.me])
      REQUIRE((waited_for == Sources::everybody || (waited_for == Sources::root && user == s.root)));
  }
  void check_results() {
    std::size_t results = 0;
    for (int me = 0; me < case_.size; ++me)
      for (const Run& run : of(me).result)
        for (std::uint64_t i = 0; i < run.count; ++i, ++results) {
          const Symbol wanted{run.from == kAllRanks ? (1u << case_.size) - 1 : 1u << run.from,
                              run.from_begin + i};
          const Place place = output(me, run.begin + i);
          REQUIRE(written_.count(place) + kept_.count(place) == 1);
          REQUIRE((kept_.count(place) == 1 ? kept_.at(place) : written_.at(place).second) == wanted);
        }
    REQUIRE(results == written_.size() + kept_.size());
  }

  const Case case_;
  Specification specification_;
  std::vector<std::uint64_t> begins_;
  std::map<Place, std::set<int>> read_;
  std::map<Place, std::pair<int, Symbol>> written_;  // by whom, and what
  std::map<Place, Symbol> kept_;
  std::map<int, std::set<int>> borrowed_;  // whose buffers, by whom
};

}  // namespace

TEST_CASE("the moves straight between buffers do what each collective means, in any order") {
  for (const Collective collective : kAll)
    for (int size = 2; size <= 6; ++size)
      for (Rank root = 0; root < (rooted(collective) ? size : 1); ++root)
        for (const bool in_place : {false, true})
          for (const std::uint64_t count : {0, 1, 63, 65, 200}) {
            if (!can_be_straight(collective, in_place)) continue;
            INFO(to_string(collective)
                 << " of " << count << " on " << size << ", root " << root << (in_place ? ", in place" : ""));
            World({collective, size, rooted(collective) ? root : kNoRank, in_place, count, {}}).run();
          }
}

TEST_CASE("the moves straight between buffers of the v forms, with parts of any length") {
  constexpr unsigned kSeed = 0x57a1;
  std::mt19937 random(kSeed);
  CAPTURE(kSeed);
  for (const Collective collective :
       {Collective::reduce_scatter, Collective::all_gather, Collective::gather, Collective::scatter})
    for (int trial = 0; trial < 60; ++trial) {
      const int size = 2 + static_cast<int>(random() % 5);
      std::vector<std::uint64_t> counts;
      for (int r = 0; r < size; ++r) counts.push_back(random() % 3 == 0 ? 0 : random() % 300);
      const bool in_place = random() % 2 == 0;
      const Rank root =
          rooted(collective) ? static_cast<Rank>(random() % static_cast<unsigned>(size)) : kNoRank;
      INFO(to_string(collective) << " trial " << trial);
      World({collective, size, root, in_place, 0, counts}).run();
    }
}

}  // namespace strata::test
