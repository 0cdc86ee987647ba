// All-to-all of little data: what goes to another of the outermost groups is handed to the rank that sits
// there where its receiver sits, so that a rank sends one message to each other group (to each that has as
// many ranks as its own).
#include "ccl/algorithms/builds.hpp"
#include "ccl/algorithms/hierarchical.hpp"

namespace strata {
namespace {

class TwoPhases {
 public:
  TwoPhases(Program& program, const Request& request, const Group& group, const Tuning& tuning)
      : writer_(program, request, tuning),
        nest_(nest_of(group)),
        home_(nest_.index_of(group.me)),
        me_(group.me),
        block_(request.count * request.element_bytes()),
        data_(operands(request, group.size(), group.me)),
        // In place, what arrives overwrites what has yet to leave: all of it steps aside.
        source_(request.in_place ? program.scratch(data_.in.length) : data_.in) {
    if (request.in_place) writer_.copy(data_.in, source_);
  }

  void write() {
    for (const Rank peer : mine().ranks) {
      if (peer == me_) continue;
      writer_.send(peer, block(source_, peer));
      writer_.recv(peer, block(data_.out, peer));
    }
    writer_.copy(block(source_, me_), block(data_.out, me_));
    if (block_ == 0) return;
    hand_over();
    for (std::size_t g = 0; g < nest_.inner.size(); ++g)
      if (g != home_) receive_from(nest_.inner[g]);
  }

 private:
  const Nest& mine() const { return nest_.inner[home_]; }
  Slice block(Slice of, std::int64_t i) const {
    return {of.buffer, of.offset + static_cast<std::uint64_t>(i) * block_, block_};
  }

  // Who in `group` carries what goes from there to the place-th of a group of `size`.
  static Rank carrier(const Nest& group, std::size_t place, std::size_t size) {
    return group.ranks[place * group.ranks.size() / size];
  }
  // The receivers outside for whom this member of my group carries.
  std::vector<Rank> carried_by(Rank member) const {
    std::vector<Rank> receivers;
    for (std::size_t g = 0; g < nest_.inner.size(); ++g) {
      const std::vector<Rank>& there = nest_.inner[g].ranks;
      for (std::size_t place = 0; g != home_ && place < there.size(); ++place)
        if (carrier(mine(), place, there.size()) == member) receivers.push_back(there[place]);
    }
    return receivers;
  }

  // Gives the others of my group what they carry for me, takes what I carry for them, and sends that.
  void hand_over() {
    Program& program = writer_.program();
    const std::vector<Rank> receivers = carried_by(me_);
    const std::uint64_t members = mine().ranks.size();
    const Slice bundles =
        program.scratch(receivers.size() * members * block_);  // by receiver, then by member
    for (std::size_t m = 0; m < members; ++m) {
      const Rank member = mine().ranks[m];
      const auto to_bundle = [&](Slice from, std::size_t r) {
        writer_.copy(from, block(bundles, static_cast<std::int64_t>(r * members + m)));
      };
      if (member == me_) {
        for (std::size_t r = 0; r < receivers.size(); ++r) to_bundle(block(source_, receivers[r]), r);
        continue;
      }
      const std::vector<Rank> theirs = carried_by(member);
      const Slice leaving = program.scratch(theirs.size() * block_),
                  arriving = program.scratch(receivers.size() * block_);
      for (std::size_t r = 0; r < theirs.size(); ++r)
        writer_.copy(block(source_, theirs[r]), block(leaving, static_cast<std::int64_t>(r)));
      writer_.send(member, leaving);
      writer_.recv(member, arriving);
      for (std::size_t r = 0; r < receivers.size(); ++r)
        to_bundle(block(arriving, static_cast<std::int64_t>(r)), r);
    }
    for (std::size_t r = 0; r < receivers.size(); ++r)
      writer_.send(receivers[r], {bundles.buffer, bundles.offset + r * members * block_, members * block_});
  }

  void receive_from(const Nest& group) {
    std::size_t place = 0;
    while (mine().ranks[place] != me_) ++place;
    const Slice arriving = writer_.program().scratch(group.ranks.size() * block_);
    writer_.recv(carrier(group, place, mine().ranks.size()), arriving);
    for (std::size_t m = 0; m < group.ranks.size(); ++m)
      writer_.copy(block(arriving, static_cast<std::int64_t>(m)), block(data_.out, group.ranks[m]));
  }

  Writer writer_;
  const Nest nest_;
  const std::size_t home_;
  const Rank me_;
  const std::uint64_t block_;  // bytes from one rank to one
  const Operands data_;
  const Slice source_;
};

}  // namespace

void hierarchical_all_to_all(Program& program, const Request& request, const Group& group,
                             const Tuning& tuning) {
  TwoPhases(program, request, group, tuning).write();
}

}  // namespace strata
